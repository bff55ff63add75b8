import type { ResultOperation } from '../../../authoring/operations.ts'
import { PawlError } from '../../../errors/pawl-error.ts'
import { decode, encodeRecord } from '../../../events/payload.ts'
import type { EndedPayload, WatchPayload } from '../../../events/payloads.ts'
import type { Pending } from '../../../kernel/operation.ts'
import type { RefusedWhy } from '../../../ports/store/log.ts'
import type { Message } from '../../../ports/store/mail.ts'
import { topicOf } from '../../../runs/topics.ts'
import { type Activity, type ActivityContext, type Busy, consume, type Draft } from '../activity.ts'
import { Absence } from './absence.ts'
import { failed, settleEnded } from './ended.ts'
import { untilTaken } from './held.ts'

/**
 * Waits for the end of another run: leaves a message that its end answers. The message has a key, so that it is stored once
 * however often the run is loaded. If the run has ended, its log is read.
 */
export class ResultActivity implements Activity {
  readonly isOpenAsk = false
  readonly #context: ActivityContext
  readonly #pending: Pending<ResultOperation>
  /** The run whose end it waits for. */
  #run: string
  readonly #absence: Absence
  #isReading = false
  #isOver = false

  constructor(context: ActivityContext, pending: Pending<ResultOperation>) {
    this.#context = context
    this.#pending = pending
    this.#absence = new Absence(context)
    this.#run = pending.operation.run
  }

  get busy(): Busy {
    return this.#isReading && 'working'
  }
  get dueAt(): number | null {
    return this.#absence.dueAt
  }
  get topics(): readonly string[] {
    return this.#isOver || this.#isReading ? [] : [topicOf('ended', String(this.#pending.position))]
  }

  begin(): void {
    const run = this.#context.others.address(this.#pending.operation.run, false)
    if (!(run instanceof Promise)) return this.#watch(run)
    this.#isReading = true
    run.then(
      (known) =>
        this.#context.guard(() => {
          this.#isReading = false
          if (!this.#isOver) this.#watch(known)
          this.#context.lookAgain()
        }),
      (error: unknown) =>
        this.#context.guard(() => {
          throw error
        }),
    )
  }

  #watch(watched: string): void {
    this.#run = watched
    const { runId, generation } = this.#context
    const { position } = this.#pending
    const watch: WatchPayload = { run: runId, position }
    const message = {
      run: watched,
      kind: 'watch',
      name: '',
      // An earlier generation may have waited at this position.
      key: `watch:${runId}:${generation === 1 ? '' : `${generation}:`}${position}`,
      by: null,
      payload: encodeRecord(watch, 'watch'),
      must: true,
    } as const
    const onRefused = (why: RefusedWhy): void => this.#onRefused(why)
    this.#context.record({
      type: null,
      pending: this.#pending,
      effects: [{ do: 'send', message }],
      onRefused,
    })
  }

  onDue(): void {
    this.#absence.end()
    this.begin()
  }

  onMessage({ n, payload }: Message): void {
    const ended = decode(payload) as EndedPayload
    this.#end({ ...settleEnded(this.#pending, ended), effects: [consume(n)] })
  }

  onRecorded(): void {}
  stop(): void {
    this.#isOver = true
    this.#absence.end()
  }
  close(): boolean {
    this.stop()
    return false
  }

  #onRefused(why: RefusedWhy): void {
    // The message about the end came first.
    if (this.#isOver) return
    const run = this.#run
    if (why === 'missing' && this.#absence.begin(run)) return this.#context.lookAgain()
    if (why === 'missing') return this.#end(failed(this.#pending, new PawlError('run-not-found', { run })))
    this.#isReading = true
    const read = why === 'held' ? untilTaken(this.#context.clock).then(() => null) : this.#read(run)
    read.then(
      (ended) => this.#settle(ended),
      (error: unknown) =>
        this.#context.guard(() => {
          this.#isReading = false
          if (!this.#isOver) this.#end(failed(this.#pending, quarantined(run, error)))
        }),
    )
  }

  /** Records the outcome: what comes later is about a run whose end is known. */
  #end(draft: Draft): void {
    this.stop()
    this.#context.record(draft)
  }

  async #read(run: string): Promise<EndedPayload | null> {
    const row = await this.#context.others.find(run)
    return row === null || row.state === 'live' ? null : this.#context.others.readEnd(row)
  }

  #settle(ended: EndedPayload | null): void {
    this.#context.guard(() => {
      this.#isReading = false
      if (this.#isOver) return
      if (ended === null) this.begin()
      else this.#end(settleEnded(this.#pending, ended))
      this.#context.lookAgain()
    })
  }
}

function quarantined(run: string, error: unknown): PawlError {
  return new PawlError('run-quarantined', { run, reason: (error as Error).message })
}
