import { isEqual, type LogEvent } from '@pawl/core/internal'
import type { Consent } from './consent.ts'
import type { Reads } from './reads.ts'

/** One of the ways in which a path may continue at a point. */
export interface Choice {
  /** The log up to here, with the event of this choice. */
  readonly events: readonly LogEvent[]
  /** What happened up to here, for the report. */
  readonly labels: readonly string[]
  readonly consent: Consent
  /** How often each question was asked. */
  readonly asked: ReadonlyMap<string, number>
  /** Positions below this one have been judged. */
  readonly judgedBelow: number
  readonly wasCancelled: boolean
  /** The event that the procedure reads; null if what it reads cannot be compared. */
  readonly read: LogEvent | null
  /** Decodes what the procedure reads. */
  readonly value: () => unknown
  /** What was read of it, on all paths behind it. */
  readonly reads: Reads
}

interface Point {
  current: Choice
  readonly left: Choice[]
  readonly tried: Choice[]
}

/** The points of the path at hand at which it may continue in several ways, and what is left to try. Depth first. */
export class Choices {
  readonly #points: Point[] = []
  /** Whether outcomes that the procedure cannot tell apart are left out. */
  readonly #leavesOut: boolean
  leftOut = 0

  constructor(leavesOut: boolean) {
    this.#leavesOut = leavesOut
  }

  /** Adds a point and takes its first choice. */
  add([first, ...left]: readonly [Choice, ...Choice[]]): Choice {
    this.#points.push({ current: first, left, tried: [] })
    return first
  }

  /** Returns the choice whose event the procedure reads. */
  findRead(event: LogEvent): Choice | undefined {
    if (!this.#leavesOut) return undefined
    return this.#points.find(({ current }) => current.read === event)?.current
  }

  /** Notes that the procedure can tell when each outcome came. */
  noteTime(): void {
    for (const { current } of this.#points) current.reads.readsTime = true
  }

  /** Returns the choice with which the next path begins; null once all are explored. */
  next(): Choice | null {
    for (let point = this.#points.at(-1); point !== undefined; point = this.#points.at(-1)) {
      point.tried.push(point.current)
      for (let choice = point.left.shift(); choice !== undefined; choice = point.left.shift()) {
        const other = choice
        if (this.#leavesOut && point.tried.some((one) => areSame(one, other))) {
          this.leftOut++
          continue
        }
        point.current = choice
        return choice
      }
      this.#points.pop()
    }
    return null
  }
}

/** Nothing that was read of the tried choice, on any path behind it, differs in the other; and both consent alike. */
function areSame(tried: Choice, other: Choice): boolean {
  const [a, b] = [tried.read, other.read]
  if (a === null || b === null || a.position !== b.position) return false
  if (tried.reads.readsTime && a.at !== b.at) return false
  return isEqual(tried.consent.yes, other.consent.yes) && tried.reads.agree(tried.value(), other.value())
}
