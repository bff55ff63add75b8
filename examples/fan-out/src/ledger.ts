import { appendFileSync, existsSync, readFileSync } from 'node:fs'

/** One photo that was resized, and the process that did it. */
export interface Entry {
  readonly photo: string
  readonly key: string
  readonly worker: number
}

/** What the workers did, as lines of a file. A process that is killed leaves its lines behind. */
export class Ledger {
  readonly #file: string

  constructor(file: string) {
    this.#file = file
  }

  note(entry: Entry): void {
    appendFileSync(this.#file, `${JSON.stringify(entry)}\n`)
  }

  entries(): readonly Entry[] {
    if (!existsSync(this.#file)) return []
    const lines = readFileSync(this.#file, 'utf8').split('\n')
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Entry)
  }
}
