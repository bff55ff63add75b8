import type { ActOptions, CancelOptions, SignalOptions } from '../authoring/message-options.ts'
import type {
  PayloadOf,
  ProcedureRef,
  SignalArgs,
  SignalName,
  StateName,
  StateOf,
  UpdateIn,
  UpdateName,
  UpdateOut,
} from '../authoring/procedure-types.ts'
import type { Deadline, Duration } from '../base/duration.ts'
import type { Actor, Audience } from '../base/people.ts'
import type { AskKind, AskStatus, RunStatus } from '../base/words.ts'
import type { Store } from '../ports/connect.ts'
import type { Observer } from '../ports/observer.ts'
import type { RepeatPreview } from '../runs/preview.ts'
import type { RunCheck } from '../runs/run-check.ts'
import type { As, ResumeResolution } from './answering.ts'
import type { Checkpoints } from './checkpoints/checkpoint.ts'
import type { Page } from './page.ts'
import type {
  Answer,
  Ask,
  ExecutionLog,
  Notice,
  RunView,
  RunWithFacts,
  RunWithValues,
} from './views/views.ts'

/** The options of `createClient`. */
export interface ClientOptions {
  /** Store that keeps the runs: the result of `sqlite()`, `postgres()` or `memory()`. */
  readonly store: Store
  /** Receives the calls of the client, for traces and metrics, such as `otel()` of `@pawl/otel`. Default: none. */
  readonly observe?: Observer
}

/** The options of `run` and `runOrGet`. */
export interface RunOptions {
  /** Id of the run. The same id is started once. Default: generated; `runOrGet` requires it. Range: 1 to 200 characters. */
  readonly id?: string | undefined
  /** Who starts the run, such as 'user:ana'; shown in the inbox. Default: none. Range: 1 to 200 characters. */
  readonly by?: Actor | undefined
  /** Tags, by which `list` finds the run. Default: none. Range: 1 to 200 characters each. */
  readonly tags?: readonly string[]
  /**
   * Cancels the run after this time, counted from the start, or at this instant, with the reason 'timed out'. If no worker has
   * its code at that time, it is cancelled as soon as one has. Default: none.
   */
  readonly timeout?: Deadline | undefined
}

/** The options of `runOrGet`. */
export interface RunOrGetOptions extends RunOptions {
  /** Id of the run. Range: 1 to 200 characters. */
  readonly id: string
  /** What happens if the run has ended: 'get' returns it, 'again' starts it again. Default: 'get'. */
  readonly ifEnded?: 'get' | 'again'
}

type RunArgs<In> = undefined extends In
  ? [input?: In, options?: RunOptions]
  : [input: In, options?: RunOptions]

/**
 * Starts runs, signals and reads them, and answers their asks, without executing any. Created by `createClient`. Inside a
 * procedure, call its methods in steps only: elsewhere all but `get` throw 'nondeterministic-call'.
 */
export interface Client {
  /**
   * Starts a run. Resolves once the run is durable. The same id with the same input returns the existing run.
   * @throws PawlError 'input-invalid', 'id-taken' (same id, different input or procedure), 'payload-refused',
   * 'procedure-unknown' (an engine without the procedure), 'option-invalid', 'engine-stopped', 'run-quarantined' (the input
   * of the existing run cannot be read)
   * @example const run = await engine.run(refund, { orderId: 'A-1', amount: 45 }, { id: 'refund:A-1' })
   */
  run<In, Out, T>(
    procedure: ProcedureRef<In, Out, T>,
    ...input: RunArgs<NoInfer<In>>
  ): Promise<RunHandle<Out, T>>
  /**
   * Starts a run, or returns the run with that id whatever its input: one run per cart, account or device. With
   * `ifEnded: 'again'`, a run that has ended starts again with this input and these options, under the same id and with an empty
   * log: a new generation of it. What was left in its mail is dropped.
   * @throws PawlError 'id-taken' (the run of another procedure), and the other errors of `run`
   * @example const run = await engine.runOrGet(cart, { customer: 'ana' }, { id: 'cart:ana' })
   */
  runOrGet<In, Out, T>(
    procedure: ProcedureRef<In, Out, T>,
    input: NoInfer<In>,
    options: RunOrGetOptions,
  ): Promise<RunHandle<Out, T>>
  /**
   * Returns a handle on a run, without I/O. Its methods throw 'run-not-found' if the run does not exist. The procedure is
   * used for types only: it is not compared with that of the run.
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
   * Reads the execution log: one entry per operation; an unanswered ask has `result: null`. With a `page` it reads a part
   * of the log; the cost of a page at the end does not depend on the length of the log.
   * @throws PawlError 'run-not-found', 'run-quarantined' (its log cannot be read), 'option-invalid'
   * @example const { execution_log } = await client.log(run.id, { limit: 50 }) // the newest 50
   */
  log(id: string, page?: LogPage): Promise<ExecutionLog>
  /**
   * Retries a failed, stuck or quarantined run. A failed run continues just before the failed result that ended it, as a new
   * generation with the same id: results before it are kept, idempotency keys stay the same, open questions are asked again, and
   * children that its end has cancelled continue, in the same transaction. A stuck run becomes due now. A quarantined run is released if it was quarantined
   * for crashes, or because of an internal error. Does nothing for any other live run: it resumes by itself.
   * @throws PawlError 'run-not-found', 'run-ended' (completed or cancelled: fork it; or a child that it may call again was deleted),
   * 'run-rolled-back' (it, or a child that would continue, has undone steps), 'run-quarantined' (its log is damaged), 'run-live' (a child is still being cancelled), 'option-invalid'
   * @example for (const { id } of (await client.list({ status: 'stuck' })).items) await client.retry(id)
   */
  retry(id: string, options?: ActOptions): Promise<void>
  /**
   * Starts a new run that shares the recorded past of another one, up to the result at a position. No effect is repeated that did
   * not depend on that result; results that were there by then are kept. What is open is begun anew: questions are asked again,
   * and a yes of a gate whose action is not kept is asked for again. `edit` replaces kept results, by position: the value of a
   * step or an agent, the payload of a signal, the answer to an ask. Steps get new idempotency keys. Idempotent for its `id`: the same
   * id with the same original, place and edits gives the existing fork.
   * @throws PawlError 'run-not-found', 'id-taken' (same id, another run or fork), 'option-invalid', 'answer-invalid' (an edited answer),
   * 'payload-refused', 'run-quarantined' (its log is damaged before the position)
   * @example const other = await engine.fork(run.id, { position: 4 }, { edit: { 3: { approved: false } } })
   */
  fork(id: string, from: ForkPoint, changes?: ForkChanges): Promise<RunHandle<unknown, Untyped>>
  /**
   * Returns what `retry` would keep and do again. Changes nothing.
   * @throws PawlError all that `retry` throws
   * @example const { operations } = await client.previewRetry('refund:A-1')
   */
  previewRetry(id: string): Promise<RepeatPreview>
  /**
   * Returns what `fork` would keep and do again. Starts nothing.
   * @throws PawlError all that `fork` throws, except 'id-taken'
   * @example const { operations } = await client.previewFork('refund:A-1', { position: 4 })
   */
  previewFork(id: string, from: ForkPoint, changes?: ForkChanges): Promise<RepeatPreview>
  /**
   * Answers the open ask behind a checkpoint, the id that `pawl run` prints, and returns its run: `result()` waits for how it ends.
   * A resolution is an answer, or a `decision` ('approve', 'reject', or a choice of the ask) with what belongs to it.
   * @throws PawlError all that `inbox.answer` throws; 'ask-not-found' also for a checkpoint that a program saved
   * @example
   * const run = await client.resume({ checkpoint: ask.id, resolution: { decision: 'approve' } }, { as: 'user:ana' })
   * console.log(await run.result())
   */
  resume(
    request: { readonly checkpoint: string; readonly resolution: ResumeResolution },
    as: As,
  ): Promise<RunHandle<unknown, Untyped>>
  /**
   * Cancels a run: its pending operations reject with 'cancelled', and `finally` blocks and shields run. Resolves once the
   * request is stored. Cancelling a run twice, or a run that has ended, does nothing.
   * @param reason why, for people and in the errors. Default: none. Range: 1 to 1,000 characters.
   * @throws PawlError 'run-not-found', 'run-quarantined', 'option-invalid'
   * @example await engine.cancel('refund:A-1', 'customer called', { by: 'user:ana' })
   */
  cancel(id: string, reason?: string, options?: CancelOptions): Promise<void>
  /**
   * Deletes a run that has ended or is quarantined, with all that belongs to it, so that its id is free. What people decided in it
   * is kept: see `archived` of `inbox.list`. A run that waits for a deleted quarantined run fails with its quarantine.
   * @throws PawlError 'run-live' (also if its live parent may ask for its result), 'run-not-found', 'option-invalid'
   * @example await client.delete('refund:A-1')
   */
  delete(id: string, options?: ActOptions): Promise<void>
  /**
   * Returns a run as a file: its whole log with its hash chain, its mail, its asks, its checkpoints and what it exposes. Equal runs have
   * equal files, whatever the store. A live run is exported as it is at this moment, and continues.
   * @throws PawlError 'run-not-found', 'run-quarantined' (its log is damaged), 'option-invalid'
   * @example await writeFile('refund.pawl', await client.export('refund:A-1'))
   */
  export(id: string, options?: ActOptions): Promise<Uint8Array>
  /**
   * Returns the file of `export` in parts of about 256 KiB, so that a long log is never in memory as a whole. The
   * file is complete only if the iteration ends without an error.
   * @throws PawlError 'option-invalid'; the iteration also 'run-not-found', 'run-quarantined'
   * @example await pipeline(client.exportStream('refund:A-1'), createWriteStream('refund.pawl'))
   */
  exportStream(id: string, options?: ActOptions): AsyncIterable<Uint8Array>
  /**
   * Stores an exported run. Every byte of the file and the hash chain of its log are verified; until all of it is stored, no call
   * finds the run and no worker executes it. A live run continues: delete the original, or both act, with the same idempotency keys.
   * @param run the file, or its parts in any size, such as a `ReadStream` or the body of a response
   * @throws PawlError 'export-invalid', 'id-taken', 'option-invalid'
   * @example const run = await client.import(await readFile('refund.pawl'))
   */
  import(
    run: Uint8Array | AsyncIterable<Uint8Array>,
    options?: ImportOptions,
  ): Promise<RunHandle<unknown, Untyped>>
  readonly inbox: Inbox
  readonly checkpoints: Checkpoints
  /** Closes the connection to the store. */
  stop(): Promise<void>
}

/** The options of `import`. */
export interface ImportOptions {
  /**
   * Id of the imported run. Default: the one it had. Another one only for a run that has completed or was cancelled, which cannot
   * act again. Range: 1 to 200 characters.
   */
  readonly id?: string
  /** Called with what the file says of the run, before anything is stored. An error that it throws rejects the import. Default: none. */
  readonly check?: (run: ImportedRun) => void
  /** Who imports it, such as 'user:ana'; the observer is told. Default: none. Range: 1 to 200 characters. */
  readonly by?: Actor | undefined
}

/** The beginning of an exported run, as it is to be stored. */
export interface ImportedRun {
  readonly id: string
  readonly procedure: string
  readonly tags: readonly string[]
  /** 'live' if it has not ended. */
  readonly state: 'live' | 'completed' | 'failed' | 'cancelled'
}

/** Where a fork leaves its original. */
export type ForkPoint =
  | {
      /** The fork continues just before the result at this position. Range: whole numbers from 0. */
      readonly position: number
      readonly checkpoint?: undefined
    }
  | {
      /**
       * Id of a checkpoint of the run, or of one of its asks: the fork has what the run had recorded by then. Effects that had begun are
       * not repeated if they have been recorded since; questions that were open are asked again.
       */
      readonly checkpoint: string
      readonly position?: undefined
    }

/** What a fork has different from its original. */
export interface ForkChanges {
  /** Results to be replaced, by position. The cut moves right behind the first of them. Default: none. */
  readonly edit?: { readonly [position: number]: unknown }
  /** Id of the new run, by which a repeated call finds it. Default: generated. Range: 1 to 200 characters. */
  readonly id?: string
  /** Who starts it. Default: who started the original. */
  readonly by?: Actor
  /**
   * Called with the question of each answer in `edit`, before anything is written. It throws to refuse the edit, such as for a person
   * who may not answer. Default: all edits are allowed.
   */
  readonly checkAnswer?: (ask: Ask) => void
  /**
   * Called with each answer upon which the fork acts, before anything is written: the answers that it keeps, and the answers in runs whose
   * results it keeps and in earlier generations, except the consent to an action that is not done again. It throws to refuse the
   * fork, such as for a person who would start what they have approved. A fork is refused if a part of this is deleted, and so
   * unknown. Default: all answers may be kept.
   */
  readonly checkKept?: (answer: KeptAnswer) => void
}

/** An answer upon which a fork acts. */
export interface KeptAnswer {
  /** Id of the run that asked: the original, or a run whose result it keeps. */
  readonly run: string
  readonly position: number
  /** Name of the operation in the log. */
  readonly name: string
  /** Who gave it, and who stands behind that: the maker of a link, and who acted for them. */
  readonly by: readonly string[]
}

/** A client that also executes runs. Created by `createEngine`. */
export interface Engine extends Client {
  /**
   * Replays stored runs with the code of this engine, and reports which of them would get stuck. Writes nothing, and runs no step.
   * By default it checks all runs that are running, waiting or stuck.
   * @throws PawlError 'option-invalid', 'run-not-found', 'export-invalid', 'engine-stopped'
   * @example const broken = (await engine.check()).filter(({ verdict }) => verdict === 'diverges')
   */
  check(what?: CheckFilter): Promise<readonly RunCheck[]>
  /** Claims no more runs, waits for running steps, and closes the connection to the store. Other engines resume its runs. */
  stop(options?: StopOptions): Promise<void>
}

/** The options of `engine.stop`. */
export interface StopOptions {
  /** Maximum wait for running steps. Default: '10s'. */
  readonly within?: Duration
}

// biome-ignore lint/suspicious/noExplicitAny: without the procedure the payloads are unknown
interface Untyped {
  readonly signals: { readonly [name: string]: any }
  readonly state: { readonly [name: string]: any }
  readonly updates: { readonly [name: string]: { readonly input: any; readonly output: any } }
}

/** A handle on one run. It holds no resources. */
// biome-ignore lint/complexity/noBannedTypes: an empty object type is allowed
export interface RunHandle<Output, T = {}> {
  readonly id: string
  /**
   * Waits until the run ends and returns its output.
   * @throws PawlError 'run-failed', 'output-invalid', 'run-quarantined', 'wait-timed-out' (the run continues), 'run-not-found',
   * 'engine-stopped', 'run-cancelled'; 'nondeterminism', 'foreign-await',
   * 'procedure-broken' or 'version-gone' (the run is stuck and resumes once the code is fixed)
   */
  result(options?: ResultOptions): Promise<Output>
  /**
   * Returns the state of the run. A run that has ended is verified first: if its log is damaged, it is shown as quarantined.
   * With `values`, it also reads the input, the output and the exposed values; with `facts`, its worker, counts, usage, and what can
   * be done with it.
   * @throws PawlError 'run-not-found', 'option-invalid'
   * @example const { values } = await client.get('refund:A-1').status({ values: true })
   */
  status(options?: { readonly values?: false; readonly facts?: false }): Promise<RunView>
  status(options: StatusOptions & { readonly values: true; readonly facts?: false }): Promise<RunWithValues>
  status(options: StatusOptions & { readonly values?: false; readonly facts: true }): Promise<RunWithFacts>
  status(
    options: StatusOptions & { readonly values: true; readonly facts: true },
  ): Promise<RunWithValues & RunWithFacts>
  status(options: StatusOptions): Promise<RunView & Partial<RunWithValues & RunWithFacts>>
  /** Cancels the run; see {@link Client.cancel}. @throws PawlError 'run-not-found', 'run-quarantined', 'option-invalid' */
  cancel(reason?: string, options?: CancelOptions): Promise<void>
  /**
   * Sends a declared signal. Resolves once the signal is stored.
   * @throws PawlError 'payload-invalid', 'payload-refused', 'run-ended', 'run-busy', 'run-not-found', 'option-invalid',
   * 'run-quarantined' (its rows are damaged)
   * @example await engine.get(order, 'order:7').signal('paid', { cents: 4500 }, { id: event.id })
   */
  signal<K extends SignalName<T>>(name: K, ...args: SignalArgs<PayloadOf<T, K>, SignalOptions>): Promise<void>
  /**
   * Returns the last stored value that the run exposes, or undefined. With `wait`, it waits for a first value.
   * @throws PawlError 'run-not-found', 'option-invalid', 'run-quarantined'; with `wait` also 'wait-timed-out', 'run-ended'
   * @example const status = await engine.get(order, 'order:7').state('status')
   */
  state<K extends StateName<T>>(name: K): Promise<StateOf<T, K> | undefined>
  state<K extends StateName<T>>(name: K, options: StateOptions): Promise<StateOf<T, K>>
  /**
   * Sends a declared update and waits for its recorded reply. The same `id` is handled once, and gets the same reply.
   * @throws PawlError 'update-refused' (the handler threw), 'update-unfinished' (it may have acted), 'payload-invalid', 'payload-refused', 'run-ended', 'run-busy', 'run-not-found',
   * 'run-quarantined', 'wait-timed-out', 'option-invalid', 'engine-stopped'
   * @example const old = await engine.get(order, 'order:7').update('rename', 'Blue')
   */
  update<K extends UpdateName<T>>(
    name: K,
    input: UpdateIn<T, K>,
    options?: UpdateOptions,
  ): Promise<UpdateOut<T, K>>
}

/** The options of `update`. */
export interface UpdateOptions {
  /** Id of the update. The same id is handled once and gets the same reply. Default: generated. Range: 1 to 200 characters. */
  readonly id?: string
  /** Who sends the update, such as 'user:ana'; the log has it. Default: none. Range: 1 to 200 characters. */
  readonly by?: Actor | undefined
  /**
   * Maximum wait for the reply, after which the call rejects with 'wait-timed-out'; the update stays sent. Default: none; it waits
   * forever.
   */
  readonly timeout?: Duration
}

/** The options of `state`. */
export interface StateOptions {
  /** Maximum wait for a first value. Default: it does not wait. */
  readonly wait: Duration
}

/** The options of `result`. */
export interface ResultOptions {
  /** Maximum wait, after which the call rejects with 'wait-timed-out'; the run continues. Default: none; it waits forever. */
  readonly timeout?: Duration
}

/** Selects a part of an execution log. Pass either `before` or `after`. */
export interface LogPage {
  /** Position. Returns the newest entries below it. Default: the end of the log. */
  readonly before?: number
  /** Position. Returns the oldest entries above it; -1 starts at the first entry. Default: none. */
  readonly after?: number
  /** Maximum number of entries. Default: all. Range: whole numbers from 1 to 1,000. */
  readonly limit?: number
}

/** The filter of `list`. */
export interface RunFilter {
  /** Name of the procedure. Default: all. */
  readonly procedure?: string
  /** Status, or an array of statuses. Default: all. */
  readonly status?: RunStatus | readonly RunStatus[]
  /** Tag that the run was started with. Default: all. */
  readonly tag?: string
  /** Id of the run that created them: lists its children. Default: all. */
  readonly parent?: string
  /** 'failed': runs with an undo that failed or did not run, whatever their status. Default: all. */
  readonly rollback?: 'failed'
  /** Maximum number of runs on a page. Default: 50. Range: whole numbers from 1 to 500. */
  readonly limit?: number
  /** The `cursor` of the previous page. Default: the first page. */
  readonly cursor?: string | undefined
}

/** Selects the runs of `check`: one by its id, exported ones, or runs that match a filter. */
export type CheckFilter =
  | {
      /** Files of `export`, whatever the status of their runs. The store is not read. */
      readonly exports: readonly Uint8Array[]
      readonly run?: undefined
    }
  | {
      /** Id of the run, whatever its status. */
      readonly run: string
      readonly exports?: undefined
    }
  | {
      readonly run?: undefined
      readonly exports?: undefined
      /** Name of the procedure. Default: all. */
      readonly procedure?: string | undefined
      /** Status, or an array of statuses. Default: 'running', 'waiting' and 'stuck'. */
      readonly status?: RunStatus | readonly RunStatus[] | undefined
      /** Tag that the run was started with. Default: all. */
      readonly tag?: string | undefined
      /** Id of the run that created them. Default: all. */
      readonly parent?: string | undefined
      /** 'failed': runs with an undo that failed or did not run. Default: all. */
      readonly rollback?: 'failed' | undefined
      /** Maximum number of runs, the newest first. Default: all. Range: whole numbers from 1. */
      readonly limit?: number | undefined
    }

/** The id of an ask, or a run and a key: then the ask can be answered before it is asked. */
export type AskAddress = string | AskByKey

/** An ask by its key. */
export interface AskByKey {
  /** Id of the run that asks. Range: 1 to 200 characters. */
  readonly run: string
  /** The `key` of the ask. Range: 1 to 200 characters. */
  readonly key: string
}

/** The asks of all runs. */
export interface Inbox {
  /**
   * Lists asks in pages, the most urgent first. An ask that cannot be read is left out, with a warning in the log.
   * @throws PawlError 'option-invalid'
   */
  list(filter?: AskFilter): Promise<Page<Ask>>
  /**
   * Counts asks, up to 1,000: with more, `count` is 1,000 and `capped` is true. An ask that cannot be read counts.
   * @throws PawlError 'option-invalid'
   * @example const { count } = await engine.inbox.count({ to: ['user:ana', 'group:support'] })
   */
  count(filter?: CountFilter): Promise<AskCount>
  /** Returns an ask; null if there is none, or, with a warning in the log, if it cannot be read. */
  get(ask: string): Promise<Ask | null>
  /**
   * Waits for the first open ask and returns it. For terminals, demos and tests.
   * @throws PawlError 'wait-timed-out', 'run-ended' (`run` has ended, or ends during the wait), 'engine-stopped'
   * @example const ask = await engine.inbox.next({ run: run.id, timeout: '1m' })
   */
  next(filter?: NextFilter): Promise<Ask>
  /**
   * Lists notices in pages, the newest first: what `ctx.human.notify`, the `alert` of a plan and undos that failed tell people.
   * A notice that cannot be read is left out, with a warning in the log.
   * @throws PawlError 'option-invalid'
   */
  notices(filter?: NoticeFilter): Promise<Page<Notice>>
  /**
   * Marks notices as read by a person. Returns how many were unread before.
   * @throws PawlError 'option-invalid'
   * @example await engine.inbox.readNotices([notice.id], { as: 'user:ana' })
   */
  readNotices(notices: readonly string[], by: NoticeReader): Promise<number>
  /**
   * Follows the inbox: yields an event for each ask that is opened or closed, in the order of `n`, at least once. To resume
   * after a restart, pass the last `n` as `after`. Events are kept for 7 days; if later ones than `after` were deleted, the
   * event 'reset' comes first. Ends when `signal` aborts.
   * @throws PawlError 'option-invalid', 'engine-stopped'
   * @example for await (const { event, ask } of engine.inbox.watch({ signal })) if (event === 'ask.opened') notify(ask)
   */
  watch(options?: WatchOptions): AsyncIterable<InboxEvent>
  /**
   * Answers an ask. Exactly one answer is accepted; an invalid one leaves the ask open.
   * @throws PawlError 'ask-closed' (`details.winner` names who answered first), 'answer-invalid' (see `details.issues`),
   *   'answer-forbidden' (`as` is not a person), 'ask-not-found', 'payload-refused', 'option-invalid',
   *   'run-quarantined' (a row of the ask or its run cannot be read); by key also 'run-not-found', 'run-ended'
   * @example await engine.inbox.answer(ask.id, { approved: true, params: { amount: 40 } }, { as: 'user:ana' })
   */
  answer(ask: AskAddress, answer: Answer, as: As): Promise<void>
}

/** The filter of `inbox.notices`. */
export interface NoticeFilter {
  /** Id of one notice. Default: all. */
  readonly id?: string
  /** Id of the run. Default: all. */
  readonly run?: string
  /** Names of one person: notices addressed to any of them, or to everyone. Default: all. Range: 0 to 200 names. */
  readonly visibleTo?: readonly Audience[]
  /** Person whose read marks are shown. Default: none; every notice is shown as unread. */
  readonly reader?: Actor
  /** `true` for notices that the reader has not read. It needs a `reader`. Default: `false`. */
  readonly unread?: boolean
  /** Maximum number of notices on a page. Default: 50. Range: whole numbers from 1 to 500. */
  readonly limit?: number
  /** The `cursor` of the previous page. Default: the first page. */
  readonly cursor?: string | undefined
}

/** Who has read notices. */
export interface NoticeReader {
  /** The person. */
  readonly as: Actor
}

/** The options of `status`. */
export interface StatusOptions {
  /** Whether the input, the output and the exposed values are read, too. Default: `false`. */
  readonly values?: boolean
  /** Whether its worker, counts, usage, and what can be done with it are read, too. Default: `false`. */
  readonly facts?: boolean
}

/** The options of `inbox.watch`. */
export interface WatchOptions {
  /** Number of the last event received. Default: none; the watch starts with what happens from now on. */
  readonly after?: number
  /** Audience by name: only events of asks addressed or escalated to it. Default: all. */
  readonly to?: Audience
  /** Ends the watch when it aborts. Default: none. */
  readonly signal?: AbortSignal
}

/** An event of the inbox. */
export type InboxEvent =
  | {
      readonly event: 'ask.opened' | 'ask.closed'
      /** Number of the event; events of other asks and of runs use numbers in between. */
      readonly n: number
      readonly at: Date
      /** Id of the ask. */
      readonly ask: string
    }
  | {
      /** Events after `after` are no longer kept: list the asks again. */
      readonly event: 'reset'
      readonly n: number
      readonly at: Date
      readonly ask: undefined
    }

/** The filter of `inbox.list`. */
export interface AskFilter {
  /** Status of the asks. Default: 'open'. */
  readonly status?: AskStatus
  /**
   * Audience by name, or several: asks addressed to any of them, including overdue asks that were escalated to one.
   * Default: all. Range: 1 to 200 names.
   */
  readonly to?: Audience | readonly Audience[]
  /**
   * Names of one person: asks addressed to any of them, as `to`, and asks addressed to everyone. Cannot be combined with `to`.
   * Default: all. Range: 0 to 200 names.
   */
  readonly visibleTo?: readonly Audience[]
  /** Id of the run. Default: all. */
  readonly run?: string
  /** Name of the procedure. Default: all. */
  readonly procedure?: string
  /** Kind of question. Default: all. */
  readonly kind?: AskKind
  /** `true` for overdue asks only, `false` for the others only. Default: both. */
  readonly overdue?: boolean
  /**
   * `true` lists the answered asks of deleted runs, those of the newest run first. It can be combined with `run`, `procedure`, `limit`
   * and `cursor` only. Default: `false`.
   */
  readonly archived?: boolean
  /** Maximum number of asks on a page. Default: 50. Range: whole numbers from 1 to 500. */
  readonly limit?: number
  /** The `cursor` of the previous page. Default: the first page. */
  readonly cursor?: string | undefined
}

/** The filter of `inbox.count`. */
export type CountFilter = Omit<AskFilter, 'archived' | 'limit' | 'cursor'>

/** The result of `inbox.count`. */
export interface AskCount {
  /** At most 1,000. */
  readonly count: number
  /** Whether there are more than `count`. */
  readonly capped: boolean
}

/** The filter of `inbox.next`. */
export interface NextFilter {
  /** Id of the run. Default: all. */
  readonly run?: string
  /** Audience by name, including overdue asks that were escalated to it. Default: all. */
  readonly to?: Audience
  /** Maximum wait, after which the call rejects with 'wait-timed-out'. Default: none; it waits forever. */
  readonly timeout?: Duration
}
