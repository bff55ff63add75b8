import type { Logger } from '../ports/logger.ts'

/** Remembered at most; what is new beyond that is not said. A message made of data may differ each time. */
const maxRemarks = 1_000

/** Warnings about how a procedure is written: each is logged once, however many runs it concerns. */
export class Remarks {
  readonly #logger: Logger
  readonly #made = new Set<string>()

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /** Whether {@link warn} would still log it. */
  isNew(about: string): boolean {
    return this.#made.size < maxRemarks && !this.#made.has(about)
  }

  /** `about`: what it is about, such as a procedure and a place in it. */
  warn(about: string, message: string, fields: object): void {
    if (!this.isNew(about)) return
    this.#made.add(about)
    this.#logger.warn(message, fields)
  }
}
