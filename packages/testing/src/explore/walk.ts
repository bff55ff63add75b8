import {
  agentDefinitionOf,
  allowGrace,
  BegunUpdates,
  ContinueRequest,
  ContinueRequests,
  createChance,
  createProgram,
  createRollbackProgress,
  type Decision,
  decider,
  drain,
  encodeRecord,
  isBug,
  type LogEvent,
  type Pending,
  type ProcedureDefinition,
  type ProcedureOperation,
  readCancel,
  seedBytes,
  turns,
} from '@pawl/core/internal'
import { noPosition } from '@pawl/core/storage'
import type { Choice, Choices } from './choices.ts'
import { applyChange, type Consent, judgeStep, noConsent } from './consent.ts'
import type { Ending } from './default-rules.ts'
import type { ExploredDoubles } from './doubles.ts'
import { nameEnd } from './ends.ts'
import { ExploredExecution } from './explored-execution.ts'
import type { Gaps } from './gaps.ts'
import type { ExploreSettings } from './options.ts'
import type { Outcome } from './outcomes/outcome.ts'
import { listOutcomes, waitsForOthers } from './outcomes/registry.ts'
import { type AskedQuestion, questionIn } from './questions.ts'
import { Reads } from './reads.ts'

/** What all paths have in common. */
export interface Exploration {
  readonly definition: ProcedureDefinition
  /** Returns the input, as a new value. */
  readonly input: () => unknown
  readonly settings: ExploreSettings
  readonly doubles: ExploredDoubles
  readonly choices: Choices
  readonly gaps: Gaps
}

/** One execution of a procedure, from its start to an end. */
export interface Path {
  readonly end: string
  readonly labels: readonly string[]
  readonly consent: Consent
  readonly asked: readonly AskedQuestion[]
  readonly ending: Ending
  /** Whether operations had more orders of arrival than were tried. */
  readonly isBounded: boolean
  /** The error that ended it, if one did. */
  readonly error: unknown
}

const runId = 'explored'
const startsAt = Date.UTC(2026, 0, 1)
/** Maximum number of operations whose orders of arrival are all tried. Of more, the first and the last come first. */
const maxOrders = 3
/** A question that is asked again after so many times ends the path. */
const maxAsked = 3
const anyDecider = agentDefinitionOf(decider('decider', async () => ({ choice: '', rationale: '' })))
const silent = { debug() {}, info() {}, warn() {}, error() {} }

/** Executes a procedure with a log that is made up as it goes: up to `from`, and then the first choice at each point. */
export class Walk {
  readonly #exploration: Exploration
  readonly #execution: ExploredExecution
  readonly #rollback = createRollbackProgress()
  #events: readonly LogEvent[]
  #labels: readonly string[]
  #consent: Consent
  #asked: ReadonlyMap<string, number>
  #judgedBelow: number
  #wasCancelled: boolean
  #isBounded = false
  /** Whether it was cancelled because nothing else could happen. */
  #isOpenEnded = false
  #operations = 0
  /** By position, the outcomes of what waits: bodies are called once for each. */
  readonly #listed = new Map<number, readonly Outcome[]>()

  constructor(exploration: Exploration, from: Choice | null) {
    this.#exploration = exploration
    this.#events = from?.events ?? [createStarted(exploration.definition.name)]
    this.#labels = from?.labels ?? []
    this.#consent = from?.consent ?? noConsent
    this.#asked = from?.asked ?? new Map()
    this.#judgedBelow = from?.judgedBelow ?? 0
    this.#wasCancelled = from?.wasCancelled ?? false
    this.#execution = createExecution(exploration, this.#rollback)
  }

  /** @throws PawlError 'foreign-await', 'nondeterminism' */
  async run(): Promise<Path> {
    let decision = await this.#deliver(this.#events)
    while (decision.state === 'waiting') {
      this.#onIssued(decision.issued)
      if (this.#operations > this.#exploration.settings.maxOps) return this.#endOpen('cut')
      const choices = await this.#list()
      if (choices === 'cut') return this.#endOpen('cut')
      if (choices === null) return this.#endOpen(this.#nameWait())
      const known = this.#events.length
      this.#take(choices.length === 1 ? choices[0] : this.#exploration.choices.add(choices))
      decision = await this.#deliver(this.#events.slice(known))
    }
    const { definition, gaps } = this.#exploration
    const { end, error } = await nameEnd(definition, decision, this.#wasCancelled)
    if (decision.state === 'completed' && decision.output instanceof ContinueRequest) gaps.note('generations')
    if (this.#rollback.left.length > 0) gaps.note('undos')
    const isOpen = this.#isOpenEnded || isBug(error)
    return this.#end(end, error, isOpen ? 'open' : this.#wasCancelled ? 'cancelled' : 'ended')
  }

  get #now(): number {
    return (this.#events.at(-1) as LogEvent).at
  }

  #endOpen(end: string): Path {
    return this.#end(end, null, 'open')
  }

  #end(end: string, error: unknown, ending: Ending): Path {
    return {
      ...{ end, error, ending, labels: this.#labels, consent: this.#consent },
      ...{ asked: this.#execution.questions.all, isBounded: this.#isBounded },
    }
  }

  async #deliver(events: readonly LogEvent[]): Promise<Decision<ProcedureOperation>> {
    const execution = this.#execution
    execution.enqueue(events)
    await new Promise<void>((resolve) => drain(execution, resolve))
    if (execution.needsGrace) await new Promise<void>((resolve) => allowGrace(resolve))
    return execution.decide()
  }

  /** Judges the steps that were issued. Those of a path that this one repeats have been judged. */
  #onIssued(issued: readonly Pending<ProcedureOperation>[]): void {
    const { never } = this.#exploration.settings
    this.#operations += issued.length
    for (const { position, operation } of issued) {
      if (position < this.#judgedBelow) continue
      this.#exploration.gaps.noteOperation(operation)
      if (operation.kind === 'step') this.#consent = judgeStep(this.#consent, never, operation.name)
      this.#judgedBelow = position + 1
    }
  }

  #take(choice: Choice): void {
    this.#events = choice.events
    this.#labels = choice.labels
    this.#consent = choice.consent
    this.#asked = choice.asked
    this.#wasCancelled = choice.wasCancelled
  }

  /** Lists how the run may continue. 'cut': a question was asked too often; null: nothing will come. */
  async #list(): Promise<readonly [Choice, ...Choice[]] | 'cut' | null> {
    const { settings } = this.#exploration
    const pending = [...this.#execution.pending.values()]
    for (const one of pending)
      if (!this.#listed.has(one.position)) this.#listed.set(one.position, await this.#outcomesOf(one))
    const cancel = settings.cancel && !this.#wasCancelled ? [this.#cancelled()] : []
    const certain = pending.find((one) => this.#isCertain(one))
    const coming = certain === undefined ? this.#listComing(pending) : this.#choicesOf(certain, Infinity)
    const [first, ...others] = coming
    if (first !== undefined) return [first, ...others, ...cancel]
    if (pending.some((one) => this.#isWornOut(one))) return 'cut'
    const [only] = cancel
    if (only === undefined) return null
    this.#isOpenEnded = true
    return [only]
  }

  /** Lists what may come first: any of a few operations, or the first and the last of many. */
  #listComing(pending: readonly Pending<ProcedureOperation>[]): readonly Choice[] {
    const coming = pending.filter((one) => this.#outcomes(one).length > 0 && !this.#isWornOut(one))
    const isMany = coming.length > maxOrders
    if (isMany) this.#isBounded = true
    const candidates = isMany ? [coming[0], coming.at(-1)] : coming
    const known = candidates.filter((one) => one !== undefined)
    const dues = known.flatMap((one) => this.#outcomes(one).flatMap(({ dueAt }) => dueAt ?? []))
    // What is due first comes before what is due later, so the order depends on the time.
    if (new Set(dues).size > 1) this.#exploration.choices.noteTime()
    return known.flatMap((one) => this.#choicesOf(one, Math.min(...dues)))
  }

  /** Lists the choices of an operation. What is due comes only if nothing is due earlier. */
  #choicesOf(pending: Pending<ProcedureOperation>, firstDue: number): readonly Choice[] {
    return this.#outcomes(pending)
      .filter(({ dueAt }) => dueAt === undefined || dueAt <= firstDue)
      .map((outcome) => this.#choice(pending, outcome))
  }

  #outcomes({ position }: Pending<ProcedureOperation>): readonly Outcome[] {
    return this.#listed.get(position) ?? []
  }

  async #outcomesOf(pending: Pending<ProcedureOperation>): Promise<readonly Outcome[]> {
    const { settings, doubles } = this.#exploration
    return listOutcomes(pending, { settings, doubles, now: this.#now })
  }

  /** Whether it ends at once and in one way. In an open race, it also matters when. */
  #isCertain(pending: Pending<ProcedureOperation>): boolean {
    if (waitsForOthers(pending.operation.kind) || this.#outcomes(pending).length !== 1) return false
    for (let scope = pending.scope.parent; scope !== null; scope = scope.parent)
      if (scope.isRace) return false
    return true
  }

  #isWornOut({ operation }: Pending<ProcedureOperation>): boolean {
    const question = questionIn(operation)
    return question !== null && (this.#asked.get(question) ?? 0) >= maxAsked
  }

  #choice(pending: Pending<ProcedureOperation>, outcome: Outcome): Choice {
    const { label, failed, payload, dueAt, cancel, consent } = outcome
    const { position, turn, nth, operation } = pending
    const { never } = this.#exploration.settings
    const at = Math.max(dueAt ?? 0, this.#now + 1)
    const cancelled = cancel === undefined ? [] : [this.#event({ type: 'cancelled', payload: cancel, at }, 0)]
    const settled = this.#event(
      {
        type: 'settled',
        position,
        turn,
        nth,
        kind: operation.kind,
        name: operation.name,
        failed,
        payload,
        at,
      },
      cancelled.length,
    )
    const question = questionIn(operation)
    const isComparable = !failed && cancel === undefined && waitsForOthers(operation.kind)
    return {
      events: [...this.#events, ...cancelled, settled],
      labels:
        waitsForOthers(operation.kind) || this.#outcomes(pending).length > 1
          ? [...this.#labels, label]
          : this.#labels,
      consent: never.length === 0 ? this.#consent : applyChange(this.#consent, consent),
      asked:
        question === null
          ? this.#asked
          : new Map(this.#asked).set(question, (this.#asked.get(question) ?? 0) + 1),
      judgedBelow: this.#judgedBelow,
      wasCancelled: this.#wasCancelled || cancel !== undefined,
      read: isComparable ? settled : null,
      value: () => this.#execution.peek(operation, settled),
      reads: new Reads(),
    }
  }

  #cancelled(): Choice {
    const payload = encodeRecord({ reason: 'explored' }, 'reason')
    const event = this.#event({ type: 'cancelled', payload, at: this.#now + 1 }, 0)
    return {
      events: [...this.#events, event],
      labels: [...this.#labels, 'the run is cancelled'],
      consent: this.#consent,
      asked: this.#asked,
      judgedBelow: this.#judgedBelow,
      wasCancelled: true,
      read: null,
      value: () => undefined,
      reads: new Reads(),
    }
  }

  #event(given: Partial<LogEvent> & Pick<LogEvent, 'type' | 'at'>, after: number): LogEvent {
    return { ...emptyEvent, ...given, seq: this.#events.length + after }
  }

  #nameWait(): string {
    const [first] = this.#execution.pending.values()
    return `waits for ${first?.operation.kind} "${first?.operation.name}"`
  }
}

const emptyEvent: LogEvent = {
  ...{ seq: 0, type: 'started', position: noPosition, turn: 0, kind: null, name: '', nth: 0 },
  ...{ failed: false, tookMs: null, payload: null, at: startsAt, epoch: 1, link: null },
}

function createStarted(procedure: string): LogEvent {
  return { ...emptyEvent, name: procedure }
}

function createExecution(
  { definition, input, doubles, choices, gaps }: Exploration,
  rollback: ReturnType<typeof createRollbackProgress>,
): ExploredExecution {
  const chance = createChance(new Uint8Array(seedBytes))
  const execution: ExploredExecution = new ExploredExecution(
    {
      id: runId,
      turns,
      determinism: 'virtual',
      chance: {
        random() {
          gaps.note('random')
          return chance.random()
        },
        uuid() {
          gaps.note('random')
          return chance.uuid()
        },
      },
      program: createProgram({
        definition,
        input,
        runId,
        depth: 0,
        get execution() {
          return execution
        },
        // A new run: it was never before a change.
        chooseBranch(_change, offered) {
          gaps.note('version')
          return offered.at(-1) as number
        },
        isReplaying: true,
        isKept: false,
        logger: silent,
        effects: doubles,
        isParked: (error) => parks(definition) && isBug(error),
        requests: new ContinueRequests(),
        begunUpdates: new BegunUpdates(),
        exposed: { expose: () => {}, progress: () => {} },
        rollback,
        decider: anyDecider,
        escalateTo: undefined,
        policy: undefined,
        startedBy: undefined,
        remark: () => {},
      }),
      readCancel,
    },
    {
      onRead(event, value) {
        const choice = choices.findRead(event)
        return choice === undefined
          ? value
          : choice.reads.watch(
              value,
              () => choices.noteTime(),
              (field) => gaps.noteRead(field),
            )
      },
      onTime() {
        gaps.note('time')
        choices.noteTime()
      },
    },
  )
  return execution
}

/** Whether a programming error parks a run of the procedure. */
function parks({ bugs = 'park' }: ProcedureDefinition): boolean {
  return bugs === 'park'
}
