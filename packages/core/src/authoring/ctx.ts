import type { Deadline, Duration } from '../base/duration.ts'
import type { Logger } from '../ports/logger.ts'
import type { AgentOps } from './agent/agent.ts'
import type { Human } from './human/human.ts'
import type { PayloadOf, Received, SignalName } from './procedure-types.ts'
import type { StepCall, StepOptions } from './step/step.ts'

/**
 * What a procedure asks of the outside. Every promise it returns is an ordinary promise: `Promise.all`,
 * `race` and `any` are deterministic. Take it as `ctx: Ctx` in helper functions, or as `CtxOf<typeof order>` if they
 * receive signals.
 */
// biome-ignore lint: an empty talk is a talk, the input belongs to operations that come later
export interface Ctx<T = {}, Input = any> {
  /** The id of this run. */
  readonly runId: string

  /**
   * Does something in the world, once recorded never again. The effect is at-least-once (a crash can fall
   * between effect and record): pass `idempotencyKey` on. The result must be a payload (plain data, Date,
   * Map, Set, bytes; at most 2 MiB). The name has at most 200 characters.
   *
   * Three attempts by default (1 s between them, ×2, at most 1 min, full jitter); attempts survive a crash.
   * @throws PawlError 'step-failed' (details.cause is the last error), 'step-timed-out', 'payload-refused'
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

  /** Waits. Costs a row, not a timer, however long. @example await ctx.sleep('30d') */
  sleep(time: Duration): Promise<void>
  /** Waits until an instant of the store's clock; at once if it has passed. */
  sleepUntil(instant: Date): Promise<void>

  /**
   * The next signal of that name, oldest first. Signals sent before the run asks are kept. Waits for ever,
   * or until `timeout`: then `null`. One without a payload is `true`.
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
   * The next signal of any of these names, in the order they were sent.
   * @example
   * const next = await ctx.receiveAny(['add', 'checkout'])
   * if (next.name === 'add') cart.push(next.payload)
   */
  // biome-ignore lint/complexity/noBannedTypes: no options are options
  receiveAny<const K extends SignalName<T>, const O extends ReceiveOptions = {}>(
    names: readonly K[],
    options?: O,
  ): Promise<AnyOf<T, K> | OrNull<O>>

  /** Questions to people. */
  readonly human: Human
  /** Calls to agents, and decisions made by them. */
  readonly agent: AgentOps

  /** The time of the last thing that happened to this run. The same on every replay. */
  now(): Date
  /** A number in [0, 1), from a seed drawn when the run starts and recorded in its first event. */
  random(): number
  /** A v4 UUID, from that same seed. */
  uuid(): string
  /**
   * Silent while replaying. A crash can lose lines of the turn it interrupts, or repeat those of the first: what must
   * not be lost belongs in a step.
   */
  readonly log: Logger
}

export interface ReceiveOptions {
  /** Default: none. */
  readonly timeout?: Deadline
}
/** Unless it is certain that there is no timeout. */
type OrNull<O> = O extends { readonly timeout?: undefined } ? never : null
type AnyOf<T, K> = K extends string
  ? { readonly name: K; readonly payload: Received<PayloadOf<T, K>> }
  : never
