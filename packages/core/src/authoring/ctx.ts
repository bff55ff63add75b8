import type { Deadline, Duration } from '../base/duration.ts'
import type { Actor } from '../base/people.ts'
import type { Logger } from '../ports/logger.ts'
import type { AgentOps } from './agent/agent.ts'
import type { ChildArgs, ChildHandle } from './children/child.ts'
import type { Progress } from './exposed/progress.ts'
import type { Gate, Gated } from './gate/gate.ts'
import type { Human } from './human/human.ts'
import type { Actions, PlanOptions, PlanResult, Task } from './plan/plan.ts'
import type {
  PayloadOf,
  ProcedureRef,
  Received,
  SignalName,
  StateName,
  StateOf,
  UpdateIn,
  UpdateName,
  UpdateOut,
} from './procedure-types.ts'
import type { ScopeOps } from './scopes/scope-ops.ts'
import type { StepCall, StepOptions } from './step/step.ts'

/**
 * The context of a run: every effect of a procedure goes through it. Its promises are ordinary promises, and
 * `Promise.all`, `race` and `any` are deterministic. Helper functions take `ctx: Ctx`, or `CtxOf<typeof order>` if they
 * receive signals.
 */
// biome-ignore lint: an empty object type is allowed
export interface Ctx<T = {}, Input = any> extends ScopeOps<Ctx<T, Input>> {
  /** The id of this run. */
  readonly runId: string

  /**
   * Runs a side effect and records its result. A recorded step never runs again. The effect happens at least once,
   * because the process can crash between the effect and its record: pass `idempotencyKey` to the service you call. The
   * result must be a payload (plain data, Date, Map, Set, bytes; at most 2 MiB). The name has 1 to 200 characters.
   *
   * A failed step is retried: by default three attempts, 1 s apart and doubling up to 1 min, with full jitter. The count
   * of attempts survives a crash.
   * @throws PawlError 'step-failed' (details.cause is the last error), 'step-timed-out', 'payload-refused', 'policy-refused'
   * (with `classes`)
   * @example
   * await ctx.step('charge', ({ idempotencyKey }) => payments.charge(card, 45, { idempotencyKey }), {
   *   retry: { attempts: 5, backoff: '2s' }, timeout: '30s',
   * })
   */
  step<R>(
    name: string,
    body: (call: StepCall) => R | Promise<R>,
    options?: StepOptions<Awaited<R>>,
  ): Promise<Awaited<R>>

  /**
   * Asks for consent and then acts: once, and only with what was approved. The policies of the gate and of the engine say who
   * must agree: an agent, a person, or neither. Operations: `<name> · policy`; `<name> · facts`; `<name> · decide` (an agent);
   * `<name> · approve` (people); `<name> · facts` again; `<name>`, the action. Name: 1 to 180 characters. The key of the
   * question is its `human.key`, by default the name.
   * @throws PawlError 'step-failed' and 'step-timed-out' (the action, or reading the facts, fails), 'option-invalid',
   * 'ask-timed-out' (with `human.onTimeout: 'fail'`)
   * @example
   * const sent = await ctx.gate('send mail', {
   *   params: { to, body }, human: { message: 'Send it to {to}?', editable: ['body'] },
   *   run: (mail, { idempotencyKey }) => mailer.send(mail, idempotencyKey),
   * })
   * if (!sent.done) return sent.reason
   */
  gate<P extends object, R, F = undefined>(name: string, gate: Gate<P, F, R>): Promise<Gated<P, Awaited<R>>>

  /**
   * Runs tasks in layers: each task once all it needs have ended. Checks come before tasks, and verifications after them. A failed
   * verification undoes what it has looked at. A planner may change what has not begun, except what people check. Tasks are
   * plain data. Operations of a task: `<id> · approve` or `<id> · decide` (its check) and `<id>` (its action), or `<id> · verify`.
   * @throws PawlError 'plan-invalid' (`details.issues` has the paths), 'option-invalid', 'cancelled' (people reject a check)
   * @example
   * const { status } = await ctx.plan(
   *   [{ id: 'draft', use: 'fetch' }, { id: 'post', use: 'publish', needs: ['draft'] }],
   *   { use: { fetch: { run: fetchDraft }, publish: { run: publish, undo: unpublish } } },
   * )
   */
  plan<U extends Actions>(
    tasks: readonly Task<keyof NoInfer<U> & string>[],
    options: PlanOptions<U>,
  ): Promise<PlanResult>

  /**
   * Registers an undo. If the run fails or is cancelled, undos run in reverse order, one at a time, each a step with the default
   * retries. A run can register at most 10,000. A step registers its own `undo` when it completes; this covers an effect that
   * may have half happened.
   * @throws PawlError 'option-invalid'
   * @example
   * const hold = ctx.uuid() // a key that the step and its undo share
   * ctx.onRollback('release hold', () => cards.release(hold))
   * await ctx.step('hold', () => cards.hold(cents, hold))
   */
  onRollback(name: string, undo: (call: StepCall) => unknown): void
  /**
   * Runs the undos registered so far, in reverse order, and resolves when they are over. An undo that fails is recorded and
   * does not reject.
   * @throws PawlError 'option-invalid'
   * @example await ctx.rollback('checks failed after the deploy')
   */
  rollback(reason: string): Promise<void>

  /** Waits for a duration. A waiting run is a row in the store; it uses no timer and no worker. @example await ctx.sleep('30d') */
  sleep(time: Duration): Promise<void>
  /** Waits until an instant of the store's clock. Resolves at once if it has passed. */
  sleepUntil(instant: Date): Promise<void>

  /**
   * Waits for the next signal of that name, oldest first, and returns its payload. Signals that arrived earlier are kept.
   * Returns `null` if the `timeout` passes first, and `true` for a signal without a payload.
   * @example
   * const paid = await ctx.receive('paid', { timeout: '3d' })
   * if (paid === null) return 'never paid'
   */
  // biome-ignore lint/complexity/noBannedTypes: no options are options
  receive<K extends SignalName<T>, const O extends ReceiveOptions = {}>(
    name: K,
    options?: O,
  ): Promise<Received<PayloadOf<T, K>> | OrNull<O>>
  /**
   * Waits for the next signal of any of these names, in the order they were sent. Returns its name and payload, and who sent it
   * if the sender said so.
   * @example
   * const next = await ctx.receiveAny(['add', 'checkout'])
   * if (next.name === 'add') cart.push(next.payload)
   */
  // biome-ignore lint/complexity/noBannedTypes: no options are options
  receiveAny<const K extends SignalName<T>, const O extends ReceiveOptions = {}>(
    names: readonly K[],
    options?: O,
  ): Promise<AnyOf<T, K> | OrNull<O>>

  /**
   * Runs another procedure as a child run and waits for its output. The child is created together with the record of the call,
   * so a crash leaves exactly one. If this run ends or is cancelled first, the child is cancelled.
   * @throws PawlError 'run-failed', 'run-cancelled' (the child was cancelled), 'run-quarantined' (its log is damaged),
   * 'input-invalid', 'id-taken', 'family-full', 'payload-refused', 'option-invalid'
   * @example const invoice = await ctx.call(makeInvoice, { orderId })
   */
  call<In, Out, U>(child: ProcedureRef<In, Out, U>, ...input: ChildArgs<NoInfer<In>>): Promise<Out>
  /**
   * Starts another procedure as a child run and returns its handle once the run exists. With the `id` of an existing run of
   * that procedure, returns that run.
   * @throws PawlError 'input-invalid', 'id-taken' (a run of another procedure has the id), 'family-full', 'payload-refused',
   * 'option-invalid'
   * @example const shipping = await ctx.spawn(ship, { orderId }, { onParentEnd: 'detach' })
   */
  spawn<In, Out, U>(
    child: ProcedureRef<In, Out, U>,
    ...input: ChildArgs<NoInfer<In>>
  ): Promise<ChildHandle<Out, U>>
  /**
   * Returns a handle on any other run, without waiting. What its methods do is recorded.
   * @throws PawlError 'option-invalid'
   * @example await ctx.get(order, 'order:7').signal('paid', { cents: 4500 })
   */
  get<In, Out, U>(procedure: ProcedureRef<In, Out, U>, id: string): ChildHandle<Out, U>

  /**
   * Returns the branch of this run at a change of the code: the last number for a run that gets here for the first time, the first
   * number for a run that was here before the change. The branch is recorded once and stays. Synchronous. If the code no longer
   * offers the recorded number, the run gets stuck with 'version-gone'. The name of the change has 1 to 200 characters; the
   * numbers are whole, from 1, and ascend.
   * @throws PawlError 'option-invalid', 'version-gone'
   * @example
   * const rate = ctx.version('vat', 1, 2) === 2 ? 0.21 : 0.19
   */
  version<const V extends readonly [number, number, ...number[]]>(change: string, ...versions: V): V[number]

  /**
   * Continues with an empty log under the same run id, as a new generation of the run: for a procedure that runs for ever. Signals
   * that were not received, children and a requested cancel are kept; open asks are withdrawn. Registered undos are forgotten:
   * what was done counts as done. Return what it gives: any other return value fails the run.
   * @throws PawlError 'payload-refused', 'cancelled' (the run is cancelled)
   * @example if (seen === 1_000) return ctx.continueAs({ since: ctx.now() })
   */
  continueAs(...input: undefined extends Input ? [input?: Input] : [input: Input]): Promise<never>

  /**
   * Sets a declared value, which `handle.state(name)` reads from any process. Stored with the next commit of the run, at the
   * latest after half a second; of several values in between, the last one is stored. Its type is that of the schema, which
   * does not check it. At most 256 KiB.
   * @throws PawlError 'option-invalid', 'payload-refused'
   * @example ctx.expose('status', 'paid')
   */
  expose<K extends StateName<T>>(name: K, value: StateOf<T, K>): void
  /**
   * Handles every update of that name, one at a time, while the body continues. What the handler returns is the reply, recorded
   * once; an error that it throws refuses the update. The run does not wait for updates: it ends when the body returns.
   * @throws PawlError 'option-invalid' (the name is not declared, or has a handler)
   * @example
   * ctx.on('rename', (name) => {
   *   const old = title
   *   title = name
   *   return old
   * })
   */
  on<K extends UpdateName<T>>(
    name: K,
    handler: (input: UpdateIn<T, K>, call: UpdateSender) => UpdateOut<T, K> | Promise<UpdateOut<T, K>>,
  ): void
  /**
   * Says how far the run is, for `status()` and lists. The last call counts. Stored at most twice a second, and when the run
   * waits or ends.
   * @throws PawlError 'option-invalid'
   * @example ctx.progress({ done: 40, total: 100 })
   */
  progress(progress: Progress): void

  /**
   * Records a named point, with a value, that the run can be forked from, and returns its id. It is stored in the same commit as
   * its entry in the log, and is listed by `checkpoints.list`. Checkpoints of a run are deleted when the run completes. Every
   * operation is recorded anyway: a checkpoint gives a point a name. The name has 1 to 200 characters, the value at most 2 MiB.
   * @throws PawlError 'option-invalid', 'payload-refused'
   * @example
   * const id = await ctx.checkpoint('analyzed', { mean })
   */
  checkpoint(name: string, state?: unknown): Promise<string>

  /** Asks questions to people. */
  readonly human: Human
  /** Calls agents, and lets them decide. */
  readonly agent: AgentOps

  /** Returns the time of the last event of this run. Every replay returns the same. */
  now(): Date
  /** Returns a number from 0 up to, but not including, 1. Its seed is recorded when the run starts. */
  random(): number
  /** Returns a UUID (version 4) from the same seed. */
  uuid(): string
  /**
   * Writes to the logger of the engine, and stays silent during replay. A crash can lose or repeat lines: put anything
   * that must not be lost in a step.
   */
  readonly log: Logger
}

/** What the handler of an update is told besides its input. */
export interface UpdateSender {
  /** Who sent the update; undefined if the sender did not say so. */
  readonly by: Actor | undefined
}

/** The options of `receive` and `receiveAny`. */
export interface ReceiveOptions {
  /** Maximum wait, after which the call returns `null`. Default: none; it waits forever. */
  readonly timeout?: Deadline
}
/** Adds null, unless there is certainly no timeout. */
type OrNull<O> = O extends { readonly timeout?: undefined } ? never : null
type AnyOf<T, K> = K extends string
  ? { readonly name: K; readonly payload: Received<PayloadOf<T, K>>; readonly by?: Actor | undefined }
  : never
