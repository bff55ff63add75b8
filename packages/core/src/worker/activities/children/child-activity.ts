import type { ChildOperation } from '../../../authoring/operations.ts'
import { PawlError } from '../../../errors/pawl-error.ts'
import type { LogEvent } from '../../../events/event.ts'
import { decode, encodeRecord } from '../../../events/payload.ts'
import type { CreatedPayload, EndedPayload } from '../../../events/payloads.ts'
import type { Pending } from '../../../kernel/operation.ts'
import type { Message } from '../../../ports/store/mail.ts'
import type { ChildRun, RunRow } from '../../../ports/store/runs.ts'
import { topicOf } from '../../../runs/topics.ts'
import { type Activity, type ActivityContext, type Busy, consume } from '../activity.ts'
import { Absence } from './absence.ts'
import { AwaitedWork } from './awaited-work.ts'
import { settleEnded } from './ended.ts'

/** Creates a run, in the unit that records it. A `child` then waits for the message about its end. */
export class ChildActivity implements Activity {
  readonly isOpenAsk = false
  readonly #context: ActivityContext
  readonly #pending: Pending<ChildOperation>
  #isCreated: boolean
  /** The event that says so, if the run was loaded with it. */
  readonly #created: LogEvent | undefined
  readonly #work: AwaitedWork
  readonly #absence: Absence
  /** Due at once: another operation of the run creates a run with this id, which is written first. */
  #isBehind = false

  constructor(context: ActivityContext, pending: Pending<ChildOperation>, records: readonly LogEvent[]) {
    this.#context = context
    this.#pending = pending
    this.#work = new AwaitedWork(context, pending)
    this.#absence = new Absence(context)
    this.#created = records.find(({ type }) => type === 'created')
    this.#isCreated = this.#created !== undefined
  }

  get busy(): Busy {
    return this.#work.busy
  }
  get dueAt(): number | null {
    return this.#isBehind ? 0 : this.#absence.dueAt
  }
  get topics(): readonly string[] {
    return this.#isCreated && !this.#work.isOver ? [topicOf('ended', String(this.#pending.position))] : []
  }

  begin(): void {
    if (this.#isCreated) return this.#lookForImported()
    const { operation, position } = this.#pending
    const isCalled = operation.kind === 'child'
    let composed: ChildRun | Promise<ChildRun>
    try {
      composed = this.#context.others.compose(operation.child, position, isCalled)
    } catch (error) {
      return this.#work.fail(error)
    }
    if (!(composed instanceof Promise)) return this.#create(composed)
    this.#work.await(composed, (run) => this.#create(run))
  }

  onDue(): void {
    this.#isBehind = false
    this.#absence.end()
    this.begin()
  }

  onMessage({ n, payload }: Message): void {
    this.#work.end()
    const ended = decode(payload) as EndedPayload
    this.#context.record({ ...settleEnded(this.#pending, ended), effects: [consume(n)] })
  }

  onRecorded({ type }: LogEvent): void {
    if (type === 'created') this.#isCreated = true
  }

  stop(): void {
    this.#work.end()
    this.#absence.end()
  }
  close(): boolean {
    this.stop()
    return false
  }

  /** The child of an imported run may have ended before the run was here to be told, or may be missing. */
  #lookForImported(): void {
    if (this.#created === undefined) return
    const { id } = decode(this.#created.payload) as CreatedPayload
    const { others } = this.#context
    if (!others.comesLater(id)) return
    this.#work.await(others.find(id), (row) => {
      if (row === null) this.#absence.begin(id)
      else if (row.state !== 'live') this.#readEnd(row)
    })
  }

  #create(run: ChildRun): void {
    const { kind, child } = this.#pending.operation
    const { isDetached } = child
    if (this.#context.others.isBeingCreated(run.id)) return this.#onTakenHere(run.id)
    if (this.#context.hasCreatedBefore(run.id)) return this.#findAgain(run)
    const created: CreatedPayload = { id: run.id, ...(isDetached ? { detached: true } : {}) }
    this.#context.record({
      type: kind === 'child' ? 'created' : 'settled',
      pending: this.#pending,
      payload: encodeRecord(created, 'child'),
      effects: [{ do: 'create-run', run }],
      onRefused: () => this.#onTaken(run),
    })
  }

  /** Finds a child that the run has created before it was retried. One that was deleted is not created again: it would repeat its steps. */
  #findAgain(run: ChildRun): void {
    const { id } = run
    this.#work.await(this.#context.others.find(id), (row) => {
      if (row !== null) this.#onFound(run, row)
      else if (!this.#absence.begin(id)) this.#work.fail(deletedChild(this.#context.runId, id))
    })
  }

  #onTaken(run: ChildRun): void {
    const { id } = run
    this.#work.await(this.#context.others.find(id), (row) => {
      // It was in the same unit, and is written now.
      if (row === null) this.#onTakenHere(id)
      else this.#onFound(run, row)
    })
  }

  /** A run has the id. For a `spawn`, it is the run that was asked for, unless its procedure or its input differs. */
  #onFound(run: ChildRun, row: RunRow): void {
    const { id } = run
    const { kind, child } = this.#pending.operation
    const isOwn = this.#isOwn(row)
    if (row.procedure !== child.procedure || (kind === 'child' && !isOwn)) return this.#refuseTaken(id)
    if (kind === 'child' && row.state !== 'live') return this.#readEnd(row)
    if (isOwn) return this.#adopt(id, true)
    this.#work.await(this.#context.others.hasInput(row, run, child.input), (isSame) =>
      isSame ? this.#adopt(id, false) : this.#refuseTaken(id),
    )
  }

  /** Records that a run which exists is the child. */
  #adopt(id: string, isOwn: boolean): void {
    const { kind, child } = this.#pending.operation
    const existing: CreatedPayload = {
      id,
      ...(child.isDetached ? { detached: true } : {}),
      ...(isOwn ? {} : { existed: true }),
    }
    this.#context.record({
      type: kind === 'child' ? 'created' : 'settled',
      pending: this.#pending,
      payload: encodeRecord(existing, 'child'),
    })
  }

  #refuseTaken(id: string): void {
    this.#work.fail(new PawlError('id-taken', { id }))
  }

  /** Whether this very operation has created the run, before this run was retried. */
  #isOwn({ parent }: RunRow): boolean {
    const { runId, generation } = this.#context
    return generation > 1 && parent?.run === runId && parent.position === this.#pending.position
  }

  #readEnd(row: RunRow): void {
    this.#work.await(this.#context.others.readEnd(row), (ended) =>
      this.#context.record(settleEnded(this.#pending, ended)),
    )
  }

  /** Another operation of this run creates a run with the id. */
  #onTakenHere(id: string): void {
    if (this.#pending.operation.kind === 'child') this.#refuseTaken(id)
    else this.#isBehind = true
  }
}

function deletedChild(parent: string, run: string): PawlError {
  return new PawlError(
    'run-not-found',
    { run },
    {
      what: `Run ${run} was created by ${parent} before ${parent} was retried, and was deleted since.`,
      next: 'It was not created again, because it would repeat its steps.',
      remedy: `Import an export of ${run}, and retry ${parent}.`,
    },
  )
}
