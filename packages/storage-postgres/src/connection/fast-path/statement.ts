import { createHash } from 'node:crypto'

/** A statement that may be prepared: parsed and planned once on each connection. */
export class Statement {
  readonly text: string
  readonly #hash: string
  #generation = -1
  #name = ''

  constructor(text: string) {
    this.text = text
    this.#hash = createHash('sha256').update(text).digest('base64url').slice(0, 16)
  }

  /** Its name on the server. Each generation is planned again. */
  nameIn(generation: number): string {
    if (generation !== this.#generation) {
      this.#generation = generation
      this.#name = `pawl_${this.#hash}_${generation}`
    }
    return this.#name
  }
}
