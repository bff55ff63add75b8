import type { FailureRecord } from '../../errors/failure.ts'
import { childIn, childrenOf } from '../../events/children.ts'
import { type LogEvent, noPosition } from '../../events/event.ts'
import type { Generation } from '../../events/generation.ts'
import { decode } from '../../events/payload.ts'
import type {
  CancelNote,
  RepliedPayload,
  RetriedChild,
  RollbackRecord,
  UpdatePayload,
} from '../../events/payloads.ts'
import { noteOfCancel } from '../../events/read-cancelled.ts'
import { askSlotOf } from '../../ports/ask-slot.ts'
import { RecentSteps } from './recent-steps.ts'

const none: readonly LogEvent[] = []
const noIds: readonly string[] = []
const noUpdates: ReadonlyMap<number, LogEvent> = new Map()
const noChildren: readonly RetriedChild[] = []

/** What an index takes over from the generation of its log. */
type NotedGeneration = Pick<Generation, 'children' | 'retried' | 'createdBefore' | 'askings'>

/** Index of the delivered events of a log. */
export class LogIndex {
  /** By position. Null while empty, as in most runs: an empty map for each loaded run would take memory. */
  #records: Map<number, LogEvent[]> | null = null
  /** Null until an operation has settled. */
  #steps: RecentSteps | null = null
  #weight = 0
  #cancelled: CancelNote | null = null
  #isForced = false
  #hasOperations = false
  /** Null in most runs. */
  #undos: Pick<RollbackRecord, 'undone' | 'failed'> | null = null
  /** The runs it has spawned that end with it. Null in most runs. */
  #spawned: Set<string> | null

  /** By the position of the operation that has created it: the id of a child that was retried with the run. Null in most runs. */
  readonly #retried: ReadonlyMap<number | null, string> | null

  /** The ids of the children that earlier generations have created, and that this one may ask for again. Null in most runs. */
  readonly #createdBefore: ReadonlySet<string> | null

  /** By position: how often the operation has asked before the run was retried. Null in most runs. */
  readonly #askings: ReadonlyMap<number, number> | null

  /** `children`: the runs of earlier generations that end with it. `retried`: the children that were retried with it. */
  constructor({ children = noIds, retried = noChildren, createdBefore, askings }: NotedGeneration = {}) {
    const hasChildren = children.length + retried.length > 0
    this.#spawned = hasChildren ? new Set(childrenOf({ children, retried }, none)) : null
    this.#retried = retried.length === 0 ? null : new Map(retried.map(({ id, position }) => [position, id]))
    this.#createdBefore = createdBefore === undefined ? null : new Set(createdBefore.map(({ id }) => id))
    this.#askings = askings === undefined ? null : new Map(askings)
  }

  /** The events of the updates that were taken and not answered, by the numbers of their messages. Null in most runs. */
  #updates: Map<number, LogEvent> | null = null

  /** Bytes of payload delivered to the continuation: an estimate of the memory it holds. */
  get weight(): number {
    return this.#weight
  }

  add(events: readonly LogEvent[]): void {
    for (const event of events) {
      this.#weight += event.payload?.length ?? 0
      if (event.position !== noPosition) this.#hasOperations = true
      if (event.type === 'withdrawn') this.#records?.delete(event.position)
      else if (event.type === 'settled') {
        this.#records?.delete(event.position)
        this.steps.add(event)
        if (event.kind === 'undo') this.#noteUndo(event)
        if (event.kind === 'update' || event.kind === 'reply') this.#noteUpdate(event)
        if (event.kind === 'spawn') this.#noteSpawned(event)
      } else if (event.position !== noPosition) this.#record(event)
      else if (event.type === 'cancelled') this.#noteCancelled(event)
    }
  }

  /** Its first cancel. */
  get cancelled(): CancelNote | null {
    return this.#cancelled
  }
  /** Whether its end was forced. */
  get isForced(): boolean {
    return this.#isForced
  }

  /** Whether an operation has an event: the procedure may have registered undos. */
  get hasOperations(): boolean {
    return this.#hasOperations
  }

  /** Returns what was undone. */
  undos(): Pick<RollbackRecord, 'undone' | 'failed'> {
    return this.#undos ?? { undone: [], failed: [] }
  }

  /** The events of the questions that were asked and are neither settled nor withdrawn. */
  get openAsks(): readonly LogEvent[] {
    if (this.#records === null) return none
    return [...this.#records.values()].flatMap((records) =>
      records.filter(({ type }) => type === 'asked').slice(0, 1),
    )
  }

  /** The ids of the runs that its end cancels, unless they have ended before. */
  get children(): readonly string[] {
    if (this.#records === null) return [...(this.#spawned ?? noIds)]
    const called = [...this.#records.values()].flatMap((records) =>
      records.flatMap((event) => childIn(event) ?? []),
    )
    // A child that was retried with the run may be called again.
    return this.#spawned === null ? called : [...new Set([...called, ...this.#spawned])]
  }

  /** The events of the updates that were taken and not answered, by the numbers of their messages. */
  get openUpdates(): ReadonlyMap<number, LogEvent> {
    return this.#updates ?? noUpdates
  }

  /** Returns the events of a pending operation; they settle nothing. */
  recordsOf(position: number): readonly LogEvent[] {
    return this.#records?.get(position) ?? none
  }

  /** Returns the id of the child that the operation at a position has created before the run was retried, and that was retried too. */
  retriedChildOf(position: number): string | undefined {
    return this.#retried?.get(position)
  }

  /** Whether the run has created a child before it was retried, and may ask for it again. */
  hasCreatedBefore(child: string): boolean {
    return this.#createdBefore?.has(child) === true
  }

  /** Returns the number under which the ask of the operation at a position is stored. */
  askSlotAt(position: number): number {
    return this.#askings === null
      ? position
      : askSlotOf({ position, asking: this.#askings.get(position) ?? 0 })
  }

  /** Whether people were asked and the log does not contain the outcome. */
  isAsked(position: number): boolean {
    return this.recordsOf(position).some(({ type }) => type === 'asked')
  }

  get steps(): RecentSteps {
    this.#steps ??= new RecentSteps()
    return this.#steps
  }

  #record(event: LogEvent): void {
    this.#records ??= new Map()
    const records = this.#records.get(event.position)
    if (records === undefined) this.#records.set(event.position, [event])
    else records.push(event)
  }

  #noteUndo({ name, failed, payload }: LogEvent): void {
    this.#undos ??= { undone: [], failed: [] }
    if (!failed) this.#undos.undone.push(name)
    else this.#undos.failed.push({ name, failure: decode(payload) as FailureRecord })
  }

  #noteUpdate(event: LogEvent): void {
    const { n } = decode(event.payload) as UpdatePayload | RepliedPayload
    this.#updates ??= new Map()
    if (event.kind === 'update') this.#updates.set(n, event)
    else this.#updates.delete(n)
  }

  #noteSpawned(event: LogEvent): void {
    const id = childIn(event)
    if (id === undefined) return
    this.#spawned ??= new Set()
    this.#spawned.add(id)
  }

  /** @throws PayloadCorrupt, WrittenLater */
  #noteCancelled(event: LogEvent): void {
    const note = noteOfCancel(event)
    if (note === 'forced') this.#isForced = true
    else this.#cancelled ??= note
  }
}
