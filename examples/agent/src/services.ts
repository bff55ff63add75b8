import { appendLine, readLines } from '../../shared/src/json-lines.ts'

/** One effect on another company's system. */
export interface Effect {
  readonly what: string
  readonly key: string
}

/** The payment provider and the notes, as lines of a file. A key that was seen before has no second effect. */
export class Services {
  readonly #file: string

  constructor(file: string) {
    this.#file = file
  }

  /** Does it once for a key. Returns whether this call did it. */
  async do(what: string, key: string): Promise<boolean> {
    if ((await this.effects()).some((effect) => effect.key === key)) return false
    await appendLine(this.#file, { what, key } satisfies Effect)
    return true
  }

  effects(): Promise<readonly Effect[]> {
    return readLines<Effect>(this.#file)
  }
}
