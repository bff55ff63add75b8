import type { Agent } from '../authoring/agent/agent.ts'
import type { Question, Verdict } from '../authoring/agent/verdict.ts'
import type { Procedure, ProcedureRef } from '../authoring/procedure.ts'
import type { PayloadOf, SignalArgs, SignalName } from '../authoring/procedure-types.ts'
import type { Duration } from '../base/duration.ts'
import type { Actor, Audience } from '../base/people.ts'
import type { AskKind, AskStatus, RunStatus } from '../base/words.ts'
import type { Store } from '../ports/connect.ts'
import type { Logger } from '../ports/logger.ts'
import type { Answer, Ask, ExecutionLog, RunView } from './views/views.ts'

export interface EngineOptions {
  readonly store: Store
  // biome-ignore lint/suspicious/noExplicitAny: procedures of any types
  readonly procedures: readonly Procedure<any, any, any>[]
  /** Who decides when `decide` names nobody. */
  readonly decider?: Agent<Question, Verdict>
  /** Who else sees an ask whose time ran out with `onTimeout: 'escalate'`. Default: nobody. */
  readonly escalateTo?: Audience
  /** What `Date` and `Math.random` do inside a procedure. Default 'virtual': they answer from the run. */
  readonly determinism?: 'virtual' | 'error' | 'off'
  /** Default of `ProcedureSpec.bugs`: 'park'. */
  readonly bugs?: 'park' | 'fail'
  /** Crashes of workers on which the run was the only suspect before it is quarantined. Default: 5. Range: whole numbers from 2. */
  readonly maxCrashes?: number
  /** Bodies of steps and agents at work at once in this process. A whole number from 1. Default 100. */
  readonly concurrency?: number
  /** A worker silent for this long loses its runs. Default '10s', at least '1s'; swept at a fifth of it. */
  readonly lease?: Duration
  /** Default: the console, without `debug`. One that throws harms nobody. */
  readonly logger?: Logger
}

export interface RunOptions {
  /** Yours, to find it again and to start it only once. At most 200 characters. Default: generated. */
  readonly id?: string | undefined
  /** Who started it, such as 'user:ana'; shown in the inbox. At most 200 characters. */
  readonly by?: Actor | undefined
  /** For `list`. Each at most 200 characters. */
  readonly tags?: readonly string[]
}

type RunArgs<In> = undefined extends In
  ? [input?: In, options?: RunOptions]
  : [input: In, options?: RunOptions]

/**
 * Starts runs, talks to them, reads them and answers their asks; executes nothing. Made by `createClient`. In a
 * procedure, its methods and those of its inbox and handles belong into steps: elsewhere all but `get` throw
 * 'nondeterministic-call'.
 */
export interface Client {
  /**
   * Starts a run; resolved once it can no longer be lost. The same id with the same input gives the run
   * that is there.
   * @throws PawlError 'input-invalid', 'id-taken' (same id, other input or other procedure), 'payload-refused',
   * 'procedure-unknown' (of an engine), 'option-invalid', 'engine-stopped', 'run-quarantined' (the input of the run that is
   * there cannot be read)
   * @example const run = await engine.run(refund, { orderId: 'A-1', amount: 45 }, { id: 'refund:A-1' })
   */
  run<In, Out, T>(
    procedure: ProcedureRef<In, Out, T>,
    ...input: RunArgs<NoInfer<In>>
  ): Promise<RunHandle<Out, T>>
  /**
   * Starts it, or gives the run with that id whatever its input: one run per cart, account, device.
   * @throws PawlError 'id-taken' (another procedure's), and all others that `run` throws
   * @example const run = await engine.runOrGet(cart, { customer: 'ana' }, { id: 'cart:ana' })
   */
  runOrGet<In, Out, T>(
    procedure: ProcedureRef<In, Out, T>,
    input: NoInfer<In>,
    options: RunOptions & { readonly id: string },
  ): Promise<RunHandle<Out, T>>
  /**
   * A handle on a run; no I/O, nothing to await. Using it throws 'run-not-found' if there is none. That the run is one
   * of this procedure is not checked.
   */
  get<In, Out, T>(procedure: ProcedureRef<In, Out, T>, id: string): RunHandle<Out, T>
  get(id: string): RunHandle<unknown, Untyped>
  /**
   * Lists runs in pages, newest first. A run whose row cannot be read is shown as quarantined, with a warning in the log.
   * Logs are not verified.
   * @throws PawlError 'option-invalid'
   */
  list(filter?: RunFilter): Promise<Page<RunView>>
  /**
   * The execution log: one entry per operation; an unanswered ask has `result: null`.
   * @throws PawlError 'run-not-found', 'run-quarantined' (its log cannot be read)
   */
  log(id: string): Promise<ExecutionLog>
  /**
   * Retries a run that no engine executes any more: makes a stuck run due now, and releases a run that was quarantined for
   * crashes, or because Pawl failed on it. Does nothing to a run that is live and neither: it resumes by itself.
   * @throws PawlError 'run-not-found', 'run-ended', 'run-quarantined' (its log is damaged), 'option-invalid'
   * @example for (const { id } of (await client.list({ status: 'stuck' })).items) await client.retry(id)
   */
  retry(id: string): Promise<void>
  /**
   * Answers the open ask behind a checkpoint, the id that `pawl run` prints. A resolution is an answer, or a `decision` ('approve',
   * 'reject', or a choice of the ask) with what belongs to it.
   * @throws PawlError all that `inbox.answer` throws
   * @example await client.resume({ checkpoint: ask.id, resolution: { decision: 'approve' } }, { as: 'user:ana' })
   */
  resume(
    request: { readonly checkpoint: string; readonly resolution: ResumeResolution },
    as: As,
  ): Promise<void>
  readonly inbox: Inbox
  /** Lets go of the store. */
  stop(): Promise<void>
}

/** A client that also executes. Made by `createEngine`. */
export interface Engine extends Client {
  /** Takes no new work, waits for steps at work (default '10s'), lets go of the store. What is unfinished goes on elsewhere. */
  stop(options?: { readonly within?: Duration }): Promise<void>
}

// biome-ignore lint/suspicious/noExplicitAny: without the procedure nobody knows the payloads
type Untyped = { readonly signals: { readonly [name: string]: any } }

/** One run. Holds nothing open; make as many as you like. */
// biome-ignore lint/complexity/noBannedTypes: an empty talk is a talk
export interface RunHandle<Output, T = {}> {
  readonly id: string
  /**
   * Waits for the end; without a `timeout`, for ever.
   * @throws PawlError 'run-failed', 'run-quarantined', 'wait-timed-out' (the run goes on), 'run-not-found',
   * 'engine-stopped', 'run-cancelled' (not in this release: nothing cancels a run);
   * 'nondeterminism', 'foreign-await' or 'procedure-broken' when the run gets stuck (it resumes once the code is fixed)
   */
  result(options?: { readonly timeout?: Duration }): Promise<Output>
  /**
   * Returns its present state. A run that has ended is verified first: if its log is damaged, it is shown as quarantined.
   * @throws PawlError 'run-not-found'
   */
  status(): Promise<RunView>
  /**
   * Sends a declared signal; resolved once it is stored. The same `id`, of at most 200 characters, is delivered once.
   * @throws PawlError 'payload-invalid', 'payload-refused', 'run-ended', 'run-not-found', 'option-invalid',
   * 'run-quarantined' (its rows are damaged)
   * @example await engine.get(order, 'order:7').signal('paid', { cents: 4500 }, { id: event.id })
   */
  signal<K extends SignalName<T>>(
    name: K,
    ...args: SignalArgs<PayloadOf<T, K>, { readonly id?: string }>
  ): Promise<void>
}

export interface RunFilter {
  readonly procedure?: string
  readonly status?: RunStatus | readonly RunStatus[]
  readonly tag?: string
  /** 1 to 500. Default 50. */
  readonly limit?: number
  /** Of the page before. */
  readonly cursor?: string | undefined
}

export interface Page<R> {
  readonly items: readonly R[]
  /** Pass it on for the next page; undefined on the last. */
  readonly cursor: string | undefined
}

/** An ask by its id, or by its key in a run: then it may be answered before it is asked. */
export type AskAddress = string | { readonly run: string; readonly key: string }

/** An answer, or a decision by name: 'approve', 'reject', or a choice of the ask. */
export type ResumeResolution =
  | Answer
  | {
      readonly decision: string
      readonly params?: object
      readonly artifact?: unknown
      readonly comment?: string
    }

export interface As {
  /** Who acts. The caller has authenticated them. */
  readonly as: Actor
}

/** The asks of all runs. */
export interface Inbox {
  /**
   * Lists asks in pages, the most urgent first; open ones unless `status` says otherwise. An ask that cannot be read is left
   * out, with a warning in the log.
   * @throws PawlError 'option-invalid'
   */
  list(filter?: {
    readonly status?: AskStatus
    readonly to?: Audience
    readonly run?: string
    readonly procedure?: string
    readonly kind?: AskKind
    readonly overdue?: boolean
    /** 1 to 500. Default 50. */
    readonly limit?: number
    readonly cursor?: string | undefined
  }): Promise<Page<Ask>>
  /** Returns an ask; null if there is none, or, with a warning in the log, if it cannot be read. */
  get(ask: string): Promise<Ask | null>
  /**
   * Waits for the first open ask and returns it. For terminals, demos and tests.
   * @throws PawlError 'wait-timed-out', 'run-ended' if `run` has ended or ends meanwhile, 'engine-stopped'
   * @example const ask = await engine.inbox.next({ run: run.id, timeout: '1m' })
   */
  next(filter?: { readonly run?: string; readonly to?: Audience; readonly timeout?: Duration }): Promise<Ask>
  /**
   * Answers. Exactly one answer wins; an invalid one leaves the question open.
   * @throws PawlError 'ask-closed' (details.winner says who was faster), 'answer-invalid' (details.issues),
   *   'answer-forbidden' (an agent on a human ask), 'ask-not-found', 'payload-refused', 'option-invalid',
   *   'run-quarantined' (its row, or one of its run, cannot be read); by key also 'run-not-found', 'run-ended'
   * @example await engine.inbox.answer(ask.id, { approved: true, params: { amount: 40 } }, { as: 'user:ana' })
   */
  answer(ask: AskAddress, answer: Answer, as: As): Promise<void>
}
