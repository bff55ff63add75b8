import type { Logger } from '@pawl/core'
import { fitLine, type Out } from './out.ts'

/** Endings of runs, which the command that works on the run prints itself. */
const reported: readonly unknown[] = ['failed', 'is stuck', 'is quarantined']

interface Fields {
  readonly run?: unknown
  readonly outcome?: unknown
  /** The place in the code. */
  readonly at?: unknown
  /** Set if the line is about several runs. */
  readonly count?: unknown
}

interface Line {
  readonly message: string
  readonly fields: Fields
}

/**
 * The lines of an engine on stderr, so that stdout stays one document. Of the run that the command works on, the line that says how it
 * ended is left out: the command prints that.
 */
export class EngineLog implements Logger {
  readonly #out: Out
  readonly #places = new Map<unknown, string>()
  #leftOut: string | undefined
  #held: Line[] | undefined

  constructor(out: Out) {
    this.#out = out
  }

  /** Holds lines back until it is known which run the command works on. */
  hold(): void {
    this.#held ??= []
  }

  leaveOut(run: string): void {
    this.#leftOut = run
    this.release()
  }

  /** Prints what is held back. */
  release(): void {
    const held = this.#held ?? []
    this.#held = undefined
    for (const line of held) this.#print(line)
  }

  /** The place in the code at which a run failed or got stuck here, if it is known. */
  placeOf(run: string): string | undefined {
    return this.#places.get(run)
  }

  debug(): void {}

  info(message: string, fields?: object): void {
    this.#add(message, fields)
  }

  warn(message: string, fields?: object): void {
    this.#add(message, fields)
  }

  error(message: string, fields?: object): void {
    this.#add(message, fields)
  }

  #add(message: string, fields: Fields = {}): void {
    const line = { message, fields }
    if (this.#held === undefined) this.#print(line)
    else this.#held.push(line)
  }

  #print({ message, fields }: Line): void {
    const { run, outcome, at, count } = fields
    if (typeof at === 'string') this.#places.set(run, at)
    if (run === this.#leftOut && reported.includes(outcome) && count === undefined) return
    this.#out.note(`[pawl] ${fitLine(this.#out, message, '[pawl] '.length)}`)
  }
}
