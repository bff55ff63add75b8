import type { Logger } from '../ports/logger.ts'

/** Maximum number of remembered remarks; later ones are not logged. A message built from data may differ each time. */
const maxRemarks = 1_000

/** Logs warnings about the code of a procedure, each of them once, however many runs it affects. */
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

  /** Logs a warning. `about` identifies its subject, such as a procedure and a place in it. */
  warn(about: string, message: string, fields: object): void {
    if (!this.isNew(about)) return
    this.#made.add(about)
    this.#logger.warn(message, fields)
  }
}
