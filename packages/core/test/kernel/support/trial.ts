import type { LogEvent, OperationKind } from '../../../src/events/event.ts'
import { allowGrace, drain } from '../../../src/host/drain.ts'
import { installShield } from '../../../src/host/shield.ts'
import { turns } from '../../../src/host/turn.ts'
import type { Decision } from '../../../src/kernel/decision.ts'
import { Execution, type ExecutionOptions } from '../../../src/kernel/execution.ts'
import type { Issue, Pending, Scopes } from '../../../src/kernel/operation.ts'
import type { Scope } from '../../../src/kernel/scope.ts'
import { Log, textOf } from './log.ts'

/** What a procedure of these tests has: little more than the kernel itself offers. */
export interface Ops {
  step(name: string): Promise<string>
  sleep(name: string): Promise<string>
  approve(name: string): Promise<string>
  readonly issue: Issue
  readonly scopes: Scopes
  /** The same in another scope. */
  within(scope: Scope): Ops
  /** Notes something, to be compared between executions. */
  note(what: string): void
  now(): number
}
export type Procedure = (ops: Ops) => unknown

/** All that must be the same whenever a log is executed. */
export interface Account {
  /** In the order of the positions, as they were issued. */
  readonly issued: readonly string[]
  readonly notes: readonly string[]
  readonly outcome: string
}

// Otherwise an unhandled rejection would end the test process.
installShield()

let trials = 0

/** One execution of a procedure, on the real drain. */
export class Trial {
  readonly execution: Execution
  readonly issued: string[] = []
  readonly notes: string[] = []
  decision: Decision | null = null
  foreignMoves = 0
  #position = -1

  constructor(procedure: Procedure, options: Partial<ExecutionOptions> = {}) {
    this.execution = new Execution({
      id: `trial ${++trials}`,
      program: () => procedure(ops),
      turns,
      determinism: 'virtual',
      chance: { random: () => 0.5, uuid: () => '' },
      readCancel: (event) => ({ forced: textOf(event) === 'forced', error: () => new Error('cancelled') }),
      ...options,
      onForeign: () => {
        this.foreignMoves++
        options.onForeign?.()
      },
      onIssue: (position) => {
        this.#position = position
        options.onIssue?.(position)
      },
    })
    const opsOf = (scope: Scope): Ops => {
      const operate = (kind: OperationKind) => (name: string) => this.#issue(scope, kind, name)
      return {
        step: operate('step'),
        sleep: operate('timer'),
        approve: operate('hitl_approval'),
        issue:
          scope === this.execution.root
            ? this.execution.issue
            : (operation) => this.execution.issueIn(scope, operation),
        scopes: this.execution,
        within: opsOf,
        note: (what) => void this.notes.push(what),
        now: () => this.execution.now(),
      }
    }
    const ops = opsOf(this.execution.root)
  }

  /** Delivers the events one a turn, back to back, and asks what the run wants then. */
  async deliver(events: readonly LogEvent[], isMoreAhead = false): Promise<Decision> {
    this.execution.enqueue(events, isMoreAhead)
    await new Promise<void>((resolve) => drain(this.execution, resolve))
    if (this.execution.needsGrace) await new Promise<void>((resolve) => allowGrace(resolve))
    this.decision = this.execution.decide()
    return this.decision
  }

  get pending(): readonly Pending[] {
    return [...this.execution.pending.values()]
  }

  /** The one pending operation of that name. */
  find(name: string): Pending {
    const found = this.pending.filter(({ operation }) => operation.name === name)
    if (found.length !== 1) throw new Error(`${found.length} operations "${name}" are pending`)
    return found[0] as Pending
  }

  get account(): Account {
    return { issued: this.issued, notes: this.notes, outcome: describeOutcome(this.decision) }
  }

  #issue(scope: Scope, kind: OperationKind, name: string): Promise<string> {
    this.#position = -1
    const promise = this.execution.issueIn(scope, { kind, name, read: readText })
    const pending = this.execution.pending.get(this.#position)
    if (pending !== undefined) this.issued.push(describePending(pending))
    return promise as Promise<string>
  }
}

function readText(event: LogEvent): string {
  if (event.failed) throw new Error(textOf(event))
  return textOf(event)
}

export function describePending({ position, turn, nth, operation }: Pending): string {
  return `${position} ${operation.kind} ${operation.name} ${turn}.${nth}`
}

function describeOutcome(decision: Decision | null): string {
  switch (decision?.state) {
    case undefined:
      return 'not asked'
    case 'waiting':
      return 'waiting'
    case 'completed':
      return `completed: ${JSON.stringify(decision.output)}; left ${describeLeft(decision.left)}`
    case 'failed':
      return `failed: ${describeError(decision.error)}; left ${describeLeft(decision.left)}`
    case 'nondeterminism':
      return `nondeterminism at ${decision.position}: ${decision.recorded}, not ${decision.asked}`
    case 'foreign-await':
      return `foreign await after ${decision.after}: ${decision.what}`
    case 'stopped':
      return `stopped: ${describeError(decision.error)}`
    case 'damaged':
      return `damaged: ${decision.what}`
    case 'unreadable':
      return `unreadable at ${decision.position}: ${decision.error.message}`
  }
}

function describeLeft(left: readonly Pending[]): string {
  return left.map(({ operation }) => operation.name).join()
}

function describeError(error: unknown): string {
  if (error instanceof AggregateError) return `${error.name}: ${error.errors.map(describeError).join()}`
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
}

/** The event loop comes round: timers, sockets and immediates of others have their say. */
export function turnLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

export interface Lived {
  readonly trial: Trial
  readonly log: Log
  /** What was pending when the events up to and with this seq had been delivered. */
  readonly waits: ReadonlyMap<number, readonly string[]>
}

/** Adds to the log what happens next to one of the pending operations. */
export type Choose = (pending: readonly Pending[], log: Log) => void

const oldestFirst: Choose = (pending, log) => void log.settle(pending[0] as Pending)

/** Lets the operations of these names succeed, in this order. */
export function inOrder(...names: readonly string[]): Choose {
  const rest = [...names]
  return (pending, log) => {
    const name = rest.shift()
    const found = pending.find(({ operation }) => operation.name === name)
    if (found === undefined) throw new Error(`"${name}" is not pending`)
    log.settle(found)
  }
}

/** A run as it happens: one event at a time, the event loop coming round before each. */
export async function live(procedure: Procedure, choose: Choose = oldestFirst): Promise<Lived> {
  return goOn(new Trial(procedure), new Log(), choose)
}

/** The whole log at once. */
export async function replay(procedure: Procedure, events: readonly LogEvent[]): Promise<Trial> {
  const trial = new Trial(procedure)
  await trial.deliver(events)
  return trial
}

/** A crash behind the event `seq`: what is recorded until then at once, the rest as it happens. */
export async function recover(
  procedure: Procedure,
  events: readonly LogEvent[],
  seq: number,
): Promise<{ readonly trial: Trial; readonly wait: readonly string[] }> {
  const trial = await replay(procedure, events.slice(0, seq + 1))
  const wait = trial.pending.map(describePending)
  for (const event of events.slice(seq + 1)) {
    await turnLoop()
    await trial.deliver([event])
  }
  return { trial, wait }
}

/** Resumes a log at its end and continues live. */
export async function goOn(trial: Trial, log: Log, choose: Choose = oldestFirst): Promise<Lived> {
  const waits = new Map<number, string[]>()
  let decision = await trial.deliver(log.events)
  for (;;) {
    const { pending } = trial
    waits.set(log.events.length - 1, pending.map(describePending))
    if (decision.state !== 'waiting') return { trial, log, waits }
    const before = log.events.length
    choose(pending, log)
    await turnLoop()
    decision = await trial.deliver(log.events.slice(before))
  }
}
