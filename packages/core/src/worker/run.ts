import { createProgram } from '../authoring/program.ts'
import type { ProcedureOperation } from '../authoring/operations.ts'
import type { ProcedureDefinition } from '../authoring/procedure.ts'
import { topics } from '../base/bell.ts'
import { createChance } from '../base/prng.ts'
import { validate } from '../base/schema.ts'
import { recordFailure } from '../errors/failure.ts'
import { PawlError } from '../errors/pawl-error.ts'
import type { LogEvent, NewEvent } from '../events/event.ts'
import { noPosition } from '../events/event.ts'
import { PayloadCorrupt } from '../events/codec.ts'
import { decode, encode } from '../events/payload.ts'
import type { RunInfo, StartedPayload } from '../events/payloads.ts'
import { LogHash, sameBytes } from '../events/seal.ts'
import { captureCallSite } from '../host/call-site.ts'
import { allowGrace, drain } from '../host/drain.ts'
import { setImmediateNative } from '../host/natives.ts'
import { turns } from '../host/turn.ts'
import { Execution } from '../kernel/execution.ts'
import type { Pending } from '../kernel/operation.ts'
import type { Claimed, Message, RunKey, Unit, UnitOutcome } from '../ports/store.ts'
import type { Activity, Draft } from './activities/activity.ts'
import { createActivity } from './activities/create-activity.ts'
import { LogDamaged, LogReader } from './log-reader.ts'
import type { RunHost } from './run-host.ts'
import { RecentSteps } from './recent-steps.ts'
import { mostTries } from './suspects.ts'
import { createWorkplace } from './workplace.ts'

/** Waits shorter than this stay with their worker: letting go and claiming again would cost more than it frees. */
const lingerMs = 1_000

/** What a run does at present. Only a still run is asked for a unit, and it has at most one in flight. */
type Phase = 'loading' | 'moving' | 'still' | 'writing' | 'parked' | 'gone'

interface Ending {
  readonly failed: boolean
  readonly payload: Uint8Array | null
  readonly info: RunInfo
  readonly left: readonly Pending[]
}

/**
 * One run in the hands of its worker: the continuation in memory, what is at work for its pending operations,
 * and what it wants to have written. It decides; the committer writes; the drain delivers.
 */
export class Run {
  readonly key: RunKey
  readonly id: string
  readonly #host: RunHost
  readonly #procedure: string
  readonly #version: number
  #epoch: number
  #head: number
  /** The mail counter as the store last told it, and up to where the messages have been read. */
  #mail: number
  #seen = 0
  readonly #tries: number
  readonly #link: Uint8Array

  #phase: Phase = 'loading'
  #execution: Execution | null = null
  #definition: ProcedureDefinition | null = null
  #seed: Uint8Array = new Uint8Array(0)
  #hash: LogHash
  /** True while what is delivered was in the log before this continuation: `ctx.log` is silent. */
  #replaying = true
  readonly #activities = new Map<number, Activity>()
  /** Events of pending operations that settle nothing, from the log. */
  readonly #records = new Map<number, LogEvent[]>()
  readonly #steps = new RecentSteps()
  #drafts: Draft[] = []
  #sent: Draft[] = []
  /** The events of the unit that is being written. */
  #events: WrittenEvent[] = []
  #unread: Message[] = []
  #reading = false
  #ending: Ending | null = null
  /** The procedure was seen to move outside a turn. */
  #movedOutside = false
  #disarm: () => void = () => {}
  /** Bytes of payload this continuation has been given: what keeping it may cost. */
  #weight = 0

  constructor(host: RunHost, claimed: Claimed) {
    this.#host = host
    this.key = claimed.run
    this.id = claimed.id
    this.#procedure = claimed.procedure
    this.#version = claimed.version
    this.#epoch = claimed.epoch
    this.#head = claimed.head
    this.#mail = claimed.mail
    this.#tries = claimed.tries
    this.#link = claimed.link
    this.#hash = new LogHash(host.sha256)
  }

  get head(): number {
    return this.#head
  }
  get weight(): number {
    return this.#weight
  }
  get seen(): number {
    return this.#seen
  }
  /** Nothing is at work, being read, or to be written: only time or a message moves it. */
  get isAtRest(): boolean {
    return this.#phase === 'still' && !this.#reading && this.#drafts.length === 0 && !this.busy
  }
  get busy(): boolean {
    return [...this.#activities.values()].some((activity) => activity.busy)
  }

  // ── coming to life

  /** A run just created by this worker: nothing is to be read. */
  begin(started: LogEvent): void {
    this.#hash.add(started)
    this.#hash.keep()
    this.#replaying = false
    this.#start(started).then(
      (ok) => ok && this.#deliver([started]),
      (error) => this.#quarantine(`its first event cannot be read: ${String(error)}`),
    )
  }

  /** Reads the log, checks it, and replays it. */
  async load(): Promise<void> {
    if (this.#tries >= mostTries)
      return this.#quarantine(`it was taken over ${this.#tries} times in a row from workers that died, without a new event`)
    try {
      const reader = new LogReader(this.#host.store, this.key, this.#head, this.#hash)
      for await (const page of reader.pages()) {
        if (page[0]?.seq === 0 && !(await this.#start(page[0]))) return
        this.#note(page)
        this.#execution?.enqueue(page)
        await new Promise<void>((resolve) => drain(this.#execution as Execution, resolve))
        if (this.#phase === 'gone') return
      }
      if (!sameBytes(this.#hash.link(), this.#link)) throw new LogDamaged('its last events do not match the hash of its head')
      while (this.#seen < this.#mail) await this.#readMail()
    } catch (error) {
      if (error instanceof LogDamaged) return this.#quarantine(error.message)
      throw error
    }
    this.#replaying = false
    this.#onDrained()
  }

  /** Claimed again with the continuation still in memory. */
  wake(claimed: Claimed): void {
    this.#epoch = claimed.epoch
    this.#phase = 'still'
    this.onMail(claimed.mail)
    this.#ready()
  }

  /** Whether this continuation is as far as the run that was claimed. */
  continues(claimed: Claimed): boolean {
    return this.#phase === 'parked' && this.#head === claimed.head
  }

  /** Lets go of everything, writing nothing. */
  drop(): void {
    if (this.#phase === 'gone') return
    this.#phase = 'gone'
    this.#disarm()
    for (const activity of this.#activities.values()) activity.stop()
  }

  async #start(started: LogEvent): Promise<boolean> {
    const payload = decode(started.payload) as StartedPayload
    const definition = this.#host.procedure(this.#procedure, this.#version)
    if (definition === undefined) throw new Error(`run "${this.id}" was claimed without its procedure "${this.#procedure}"`)
    this.#definition = definition
    this.#seed = payload.seed
    const input = await this.#checkInput(started, payload, definition)
    if (input === null) return false
    this.#execution = this.#createExecution(definition, input)
    return true
  }

  /** The input's bytes as the procedure gets it; null if it was refused, which ends the run before its first turn. */
  async #checkInput(started: LogEvent, payload: StartedPayload, definition: ProcedureDefinition): Promise<(() => unknown) | null> {
    if (payload.checked || definition.input === undefined) return () => (decode(started.payload) as StartedPayload).input
    const checked = await validate(definition.input, payload.input)
    if (checked.ok) {
      const bytes = encode(checked.value, 'input')
      return () => decode(bytes)
    }
    this.#end(true, new PawlError('input-invalid', { issues: checked.issues }), [])
    return null
  }

  #createExecution(definition: ProcedureDefinition, input: () => unknown, onIssue?: (position: number) => void): Execution {
    const execution: Execution = new Execution({
      id: this.id,
      turns,
      determinism: this.#host.determinism,
      chance: createChance(this.#seed),
      program: createProgram({
        definition,
        input,
        runId: this.id,
        execution: () => execution,
        isReplaying: () => this.#replaying || onIssue !== undefined,
        logger: this.#host.logger,
        effects: this.#host.effects,
        decider: this.#host.decider,
      }),
      onForeign: () => setImmediateNative(() => this.#onForeign()),
      ...(onIssue === undefined ? {} : { onIssue }),
    })
    return execution
  }

  // ── deciding

  #deliver(events: readonly LogEvent[]): void {
    this.#phase = 'moving'
    const execution = this.#execution as Execution
    execution.enqueue(events)
    drain(execution, () => this.#onDrained())
  }

  #onDrained(): void {
    if (this.#phase === 'gone') return
    if (this.#execution?.needsGrace) allowGrace(() => this.#decide())
    else this.#decide()
  }

  #onForeign(): void {
    this.#movedOutside = true
    if (this.#phase === 'still') this.#decide()
    else if (this.#phase === 'parked') this.#host.onGone(this)
  }

  #decide(): void {
    if (this.#phase === 'gone') return
    const decision = (this.#execution as Execution).decide()
    switch (decision.state) {
      case 'waiting':
        for (const pending of decision.issued) this.#open(pending)
        this.#phase = 'still'
        return this.#ready()
      case 'completed':
        return void this.#complete(decision.output, decision.left)
      case 'failed':
        return this.#end(true, decision.error, decision.left)
      case 'nondeterminism': {
        const { position, recorded, asked } = decision
        return void this.#findCallSite(position).then((at) => {
          this.#stick(new PawlError('nondeterminism', { position, recorded, asked, at }))
        })
      }
      case 'foreign-await': {
        const error = new PawlError('foreign-await', { run: this.id, after: decision.after })
        this.#host.logger.warn(`run "${this.id}": ${decision.what}, after "${decision.after}"`)
        return this.#stick(error)
      }
      case 'unreadable':
        return this.#leaveUnread(decision.position, decision.error)
    }
  }

  #open(pending: Pending): void {
    const activity = createActivity(this.#workplace, pending as Pending & { operation: ProcedureOperation }, this.#records.get(pending.position) ?? [])
    this.#activities.set(pending.position, activity)
    activity.begin()
  }

  readonly #workplace = createWorkplace(this, {
    host: () => this.#host,
    seed: () => this.#seed,
    unread: () => this.#unread,
    steps: () => this.#steps,
    head: () => this.#head,
    signals: () => this.#definition?.signals,
    record: (draft) => {
      if (this.#phase === 'gone') return
      this.#drafts.push(draft)
      this.#ready()
    },
    retract: (activity) => {
      this.#drafts = this.#drafts.filter(({ strict }) => strict !== activity)
    },
    lookAgain: () => this.#ready(),
  })

  #ready(): void {
    if (this.#phase === 'still') this.#host.onReady(this)
  }

  async #complete(output: unknown, left: readonly Pending[]): Promise<void> {
    const schema = this.#definition?.output
    const checked = schema === undefined ? { ok: true as const, value: output } : await validate(schema, output)
    if (checked.ok) this.#end(false, checked.value, left)
    else this.#end(true, new PawlError('output-invalid', { issues: checked.issues }), left)
  }

  #end(failed: boolean, value: unknown, left: readonly Pending[]): void {
    if (this.#phase === 'gone') return
    let payload: Uint8Array | null = null
    const failure = ((): ReturnType<typeof recordFailure> | null => {
      if (failed) return recordFailure(value)
      try {
        payload = encode(value, 'output')
        return null
      } catch (error) {
        return recordFailure(error)
      }
    })()
    if (failure !== null) payload = encode(failure, 'failure')
    const info: RunInfo = { waiting: [], ...(failure === null ? {} : { failure }) }
    this.#ending = { failed: failure !== null, payload, info, left }
    this.#phase = 'still'
    this.#ready()
  }

  // ── writing

  /** What is to be written now; null if there is nothing. Asked by the committer, at the moment it writes. */
  prepare(): Unit | null {
    if (this.#phase !== 'still' || this.#reading) return null
    this.#offerMail()
    if (this.#ending !== null) return this.#prepareEnd(this.#ending)
    const now = this.#host.time.now()
    const drafted = new Set(this.#drafts.map(({ pending }) => pending.position))
    for (const [position, activity] of this.#activities)
      if (activity.dueAt !== null && activity.dueAt <= now && !drafted.has(position)) activity.onDue()
    const drafts = this.#drafts
    const wakeAt = this.#earliest()
    const lets = !drafts.some(({ type }) => type === 'settled') && !this.busy && (wakeAt === null || wakeAt - now > lingerMs)
    if (drafts.length === 0 && !lets) {
      this.#arm(wakeAt, now)
      return null
    }
    this.#drafts = []
    const info = lets ? encode({ waiting: this.#describeWaiting() } satisfies RunInfo, 'info') : null
    return this.#unit(drafts, lets ? { do: 'park', wakeAt } : { do: 'keep' }, info, [])
  }

  #prepareEnd({ failed, payload, info, left }: Ending): Unit | null {
    const asks = [...this.#activities].filter(([, activity]) => activity.isOpenAsk)
    if (asks.some(([, activity]) => activity.busy)) return null
    const drafts = this.#drafts.filter(({ strict }) => strict === undefined)
    this.#drafts = []
    const settled = new Set(drafts.filter(({ type }) => type === 'settled').map(({ pending }) => pending.position))
    const pending = (this.#execution as Execution | null)?.pending ?? new Map<number, Pending>()
    for (const [position] of asks)
      if (!settled.has(position)) drafts.push({ type: 'withdrawn', pending: pending.get(position) as Pending, closes: 'withdrawn' })
    const ended: NewEvent = { type: 'ended', position: noPosition, turn: 0, kind: null, name: '', nth: 0, failed, tookMs: null, payload }
    const leftOver = {
      signals: this.#unread.filter(({ kind }) => kind === 'signal').map(({ name }) => name),
      operations: left.map(({ position, operation }) => ({ position, name: operation.name })),
      unhandled: (this.#execution?.unhandled ?? []).map((reason) => recordFailure(reason).message),
    }
    const left0 = leftOver.signals.length + leftOver.operations.length + leftOver.unhandled.length === 0
    const bytes = encode({ ...info, ...(left0 ? {} : { leftOver }) } satisfies RunInfo, 'info')
    return this.#unit(drafts, { do: 'end', state: failed ? 'failed' : 'completed' }, bytes, [ended])
  }

  #unit(drafts: Draft[], then: Unit['then'], info: Uint8Array | null, last: readonly NewEvent[]): Unit {
    this.#phase = 'writing'
    this.#disarm()
    this.#sent = drafts
    const events: WrittenEvent[] = []
    for (const draft of drafts) if (draft.type !== null) events.push(eventOf(draft, draft.type))
    for (const event of last) events.push({ ...event, ...unwritten })
    this.#events = events
    for (const event of events) event.link = this.#hash.add(event)
    return {
      run: this.key,
      epoch: this.#epoch,
      head: this.#head,
      events,
      seals: events.map(({ link }) => link),
      link: events.length === 0 ? null : this.#hash.link(),
      seen: this.#seen,
      strict: then.do === 'end' || drafts.some(({ strict }) => strict !== undefined),
      then,
      opens: drafts.flatMap(({ opens, pending }) => (opens === undefined ? [] : [{ ...opens, position: pending.position }])),
      closes: drafts.flatMap(({ closes, pending }) => (closes === undefined ? [] : [{ position: pending.position, status: closes }])),
      consumes: drafts.flatMap(({ consumes }) => consumes ?? []),
      info,
    }
  }

  /** What became of the unit. */
  onOutcome(unit: Unit, outcome: UnitOutcome): void {
    if (this.#phase === 'gone') return
    switch (outcome.outcome) {
      case 'ok':
        return this.#onWritten(unit, outcome)
      case 'lost':
        this.#epoch = outcome.epoch
        return this.takeBack()
      case 'mail':
        this.takeBack()
        return this.onMail(outcome.mail)
      case 'fenced':
        this.#host.logger.warn(`run "${this.id}" has another owner; this worker drops it and has written nothing`)
        return this.#host.onGone(this)
      case 'conflict':
        return void this.#quarantine(`event ${unit.head} exists although the log is said to end before it`)
    }
  }

  /** The unit was not written: what it held goes into the next one, except what must be decided again. */
  takeBack(): void {
    if (this.#phase !== 'writing') return
    this.#phase = 'still'
    this.#hash.drop()
    const sent = this.#sent
    this.#sent = []
    this.#drafts = [...sent.filter(({ strict, type }) => strict === undefined && type !== 'withdrawn'), ...this.#drafts]
    for (const activity of new Set(sent.flatMap(({ strict }) => strict ?? []))) activity.begin()
    this.#ready()
  }

  #onWritten(unit: Unit, outcome: UnitOutcome & { readonly outcome: 'ok' }): void {
    const { at, epoch, mail, parked } = outcome
    this.#host.time.learn(at)
    this.#epoch = epoch
    const events = this.#events
    this.#events = []
    events.forEach((event, i) => {
      event.seq = unit.head + i
      event.at = at
      event.epoch = epoch
    })
    this.#hash.keep()
    this.#head += events.length
    if (events.length > 0 && this.#tries > 0) this.#host.onProgress(this)
    this.#consume(unit.consumes)
    this.#sent = []
    if (unit.opens.length > 0) this.#host.bell.ring(topics.asks)
    if (unit.then.do === 'end') return this.#onEnded()
    for (const event of events) {
      const activity = this.#activities.get(event.position)
      if (event.type !== 'settled') activity?.onRecorded(event)
      else this.#activities.delete(event.position)
    }
    this.#note(events)
    if (parked && unit.then.do === 'park') {
      this.#phase = 'parked'
      this.#host.onParked(this, unit.then.wakeAt)
      if (this.#movedOutside) this.#host.onGone(this)
      return
    }
    this.#phase = 'still'
    this.onMail(mail)
    if (events.some(({ type }) => type === 'settled')) return this.#deliver(events)
    if (this.#movedOutside) return this.#decide()
    this.#ready()
  }

  #onEnded(): void {
    for (const reason of this.#execution?.unhandled ?? [])
      this.#host.logger.warn(`run "${this.id}" has ended with a rejection that nobody handled`, { error: reason })
    this.#host.onGone(this)
    this.#host.bell.ring(topics.end(this.id))
    this.#host.bell.ring(topics.asks)
  }

  // ── messages

  /** There are messages up to this number. Until they are read nothing is decided. */
  onMail(mail: number): void {
    this.#mail = Math.max(this.#mail, mail)
    if (this.#phase === 'gone' || this.#reading || this.#seen >= this.#mail) return
    this.#reading = true
    this.#readMail().then(
      () => {
        this.#reading = false
        this.onMail(this.#mail)
        this.#ready()
      },
      (error) => {
        this.#host.logger.error(`run "${this.id}" could not read its messages; it tries again`, { error })
        this.#host.clock.after(lingerMs, () => {
          this.#reading = false
          this.onMail(this.#mail)
        }, true)
      },
    )
  }

  async #readMail(): Promise<void> {
    const upTo = this.#mail
    const messages = await this.#host.store.mail(this.key, this.#seen)
    this.#unread.push(...messages)
    this.#seen = Math.max(upTo, messages.at(-1)?.n ?? 0)
    this.#mail = Math.max(this.#mail, this.#seen)
  }

  /** Each message to the first operation that takes it, both in their order. An ended run still takes answers. */
  #offerMail(): void {
    for (const message of [...this.#unread]) {
      if (this.#ending !== null && message.kind !== 'answer') continue
      for (const activity of this.#activities.values())
        if (activity.onMessage(message)) {
          this.#unread = this.#unread.filter((other) => other !== message)
          break
        }
    }
  }

  #consume(numbers: readonly number[]): void {
    if (numbers.length > 0) this.#unread = this.#unread.filter(({ n }) => !numbers.includes(n))
  }

  // ── time

  #earliest(): number | null {
    let earliest: number | null = null
    for (const { dueAt } of this.#activities.values()) if (dueAt !== null && (earliest === null || dueAt < earliest)) earliest = dueAt
    return earliest
  }

  #arm(wakeAt: number | null, now: number): void {
    this.#disarm()
    if (wakeAt !== null) this.#disarm = this.#host.clock.after(Math.max(0, wakeAt - now), () => this.#ready())
  }

  // ── what others see

  #describeWaiting(): RunInfo['waiting'] {
    const pending = (this.#execution as Execution).pending
    return [...this.#activities].map(([position, { dueAt, isOpenAsk }]) => {
      const { operation, issuedAt } = pending.get(position) as Pending
      return { position, kind: operation.kind, name: operation.name, asks: isOpenAsk, since: issuedAt, until: dueAt }
    })
  }

  #note(events: readonly LogEvent[]): void {
    for (const event of events) {
      this.#weight += event.payload?.length ?? 0
      if (event.type === 'settled') {
        this.#records.delete(event.position)
        this.#steps.add(event)
      } else if (event.position !== noPosition) {
        const records = this.#records.get(event.position)
        if (records === undefined) this.#records.set(event.position, [event])
        else records.push(event)
      }
    }
  }

  // ── what is put aside

  /** Where today's code issues the operation of that position: the log is replayed once more to see it. */
  async #findCallSite(position: number): Promise<string> {
    const started = (await this.#host.store.load(this.key, 0, 1))[0]
    if (started === undefined || this.#definition === null || position === noPosition) return ''
    let site = ''
    const execution = this.#createExecution(this.#definition, () => (decode(started.payload) as StartedPayload).input, (issued) => {
      if (issued === position) site = captureCallSite() ?? ''
    })
    const reader = new LogReader(this.#host.store, this.key, this.#head, new LogHash(this.#host.sha256))
    for await (const page of reader.pages()) {
      execution.enqueue(page)
      await new Promise<void>((resolve) => drain(execution, resolve))
      if (execution.needsGrace) break
    }
    return site
  }

  #stick(error: PawlError<'nondeterminism'> | PawlError<'foreign-await'>): void {
    void this.#putAside('stuck', error, error.message)
  }

  /** Bytes that a later version wrote are no damage: the run waits, as stuck, for a worker that can read them. */
  #leaveUnread(position: number, error: Error): void {
    const reason = `the result at position ${position} cannot be read: ${error.message}`
    const mark = error.cause instanceof PayloadCorrupt && error.cause.isLater ? 'stuck' : 'quarantined'
    void this.#putAside(mark, new PawlError('run-quarantined', { run: this.id, reason }), reason)
  }

  #quarantine(reason: string): Promise<void> {
    return this.#putAside('quarantined', new PawlError('run-quarantined', { run: this.id, reason }), reason)
  }

  async #putAside(mark: 'stuck' | 'quarantined', error: PawlError, reason: string): Promise<void> {
    if (this.#phase === 'gone') return
    const { store, worker, logger, bell } = this.#host
    this.drop()
    const bytes = encode(recordFailure(error), 'reason') as Uint8Array
    await store.mark(worker, this.key, this.#epoch, mark, bytes)
    logger.error(`run "${this.id}" is ${mark}: ${reason}`)
    this.#host.onGone(this)
    bell.ring(topics.end(this.id))
  }
}

/** An event on its way into the log: what the store adds is filled in once it is there. */
type WrittenEvent = { -readonly [K in keyof LogEvent]: LogEvent[K] }

const unwritten = { seq: -1, at: 0, epoch: 0, link: null }

function eventOf({ pending, failed = false, tookMs = null, payload = null }: Draft, type: NewEvent['type']): WrittenEvent {
  const { position, turn, nth, operation } = pending
  const { kind, name } = operation
  return { type, position, turn, nth, kind, name, failed, tookMs, payload, seq: -1, at: 0, epoch: 0, link: null }
}
