import { isBuiltIn } from '../../base/built-in.ts'
import type { LogEvent, WrittenEvent } from '../../events/event.ts'
import { decode, encodeRecord } from '../../events/payload.ts'
import type { MarkedPayload } from '../../events/payloads.ts'
import type { Branch } from '../../runs/run-check.ts'
import { runEvent } from '../../runs/run-event.ts'
import type { LogSource } from './replay-log.ts'

/** The recorded branches of a run, by change. */
export type Marks = ReadonlyMap<string, number>

/**
 * The branches that a run takes at the changes of its code (`ctx.version`). A branch is chosen once, and recorded by an event
 * `marked` that takes no position. Without such an event the run was past the change before, and stays on the first branch.
 */
export class Branches {
  /** Null in most runs: empty maps for each loaded run would take memory. */
  #known: Known | null

  constructor(marks: Marks = noMarks) {
    this.#known = marks.size === 0 ? null : createKnown(marks)
  }

  /** The recorded branches, and the branches to be recorded. */
  get marks(): Marks {
    return this.#known?.marks ?? noMarks
  }

  /**
   * Returns the branch of the run at a change. `isFresh`: this worker has just written the event of this turn, so that no code
   * has been past it. A turn that is replayed was run before, even if the log has nothing behind it: a sleep leaves no event.
   */
  choose(change: string, offered: readonly number[], isFresh: boolean): number {
    this.#known ??= createKnown(noMarks)
    const known = this.#known
    known.offered.set(change, offered)
    const marked = known.marks.get(change)
    if (marked !== undefined) return marked
    const first = offered[0] as number
    if (known.unmarked.has(change)) return first
    if (!isFresh) {
      known.unmarked.set(change, first)
      return first
    }
    const last = offered.at(-1) as number
    known.marks.set(change, last)
    known.unwritten.push(change)
    return last
  }

  /**
   * Learns the marks of a page before it is delivered. False: a mark belongs to a change that the run has passed on an earlier
   * page. Then the log is replayed again with all its marks.
   */
  learn(page: readonly LogEvent[]): boolean {
    for (const event of page) {
      if (event.type !== 'marked') continue
      this.#known ??= createKnown(noMarks)
      if (this.#known.unmarked.has(event.name)) return false
      noteMark(this.#known.marks, event)
    }
    return true
  }

  /** Whether a choice is not recorded. No operation that follows from it may start: a replay would choose another branch. */
  get areUnwritten(): boolean {
    return this.#known !== null && this.#known.unwritten.length > 0
  }

  /** Returns the events that record the choices; the first events of the next unit. */
  draft(): readonly WrittenEvent[] {
    const known = this.#known
    if (known === null || known.unwritten.length === 0) return none
    return known.unwritten.map((change) => markOf(change, known.marks.get(change) as number))
  }

  /** Confirms that the drafted events were written. */
  confirm(): void {
    if (this.#known !== null) this.#known.unwritten = []
  }

  /** The branches of the run at the changes that it has passed, or that its log marks. */
  list(): { readonly [change: string]: Branch } {
    if (this.#known === null) return {}
    const { marks, unmarked, offered } = this.#known
    const all = [...marks, ...unmarked].filter(([change]) => !isBuiltIn(change))
    return Object.fromEntries(all.map(([change, on]) => [change, { on, offered: offered.get(change) ?? [] }]))
  }
}

interface Known {
  readonly marks: Map<string, number>
  /** Changes that the log does not mark, although the run has passed them. */
  readonly unmarked: Map<string, number>
  readonly offered: Map<string, readonly number[]>
  /** The changes whose choices are not recorded yet. */
  unwritten: string[]
}

function createKnown(marks: Marks): Known {
  return {
    marks: new Map(marks),
    unmarked: new Map(),
    offered: new Map(),
    unwritten: [],
  }
}

const noMarks: Marks = new Map()
const none: readonly WrittenEvent[] = []

function markOf(change: string, branch: number): WrittenEvent {
  const payload: MarkedPayload = { branch }
  return { ...runEvent('marked', encodeRecord(payload, 'mark')), name: change }
}

/** Reads all marks of a log. */
export async function readMarks(log: LogSource): Promise<Marks> {
  const marks = new Map<string, number>()
  for await (const page of log.pages())
    for (const event of page) if (event.type === 'marked') noteMark(marks, event)
  return marks
}

/** @throws PayloadCorrupt, WrittenLater */
function noteMark(marks: Map<string, number>, { name, payload }: LogEvent): void {
  if (!marks.has(name)) marks.set(name, (decode(payload) as MarkedPayload).branch)
}
