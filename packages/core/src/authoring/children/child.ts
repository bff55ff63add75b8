import type { CancelOptions, SignalOptions } from '../message-options.ts'
import type { PayloadOf, SignalArgs, SignalName } from '../procedure-types.ts'

/** The arguments after the procedure of a `call` or a `spawn`. A procedure without an input may omit it. */
export type ChildArgs<In> = undefined extends In
  ? [input?: In, options?: ChildOptions]
  : [input: In, options?: ChildOptions]

/** The options of `call` and `spawn`. */
export interface ChildOptions {
  /**
   * Id of the child. In a fork it is followed by `~` and the id of the fork. Default: derived from the id of this run and the position of the
   * call. Range: 1 to 200 characters.
   */
  readonly id?: string
  /**
   * What happens to the child when this run ends first: 'cancel' cancels it, 'detach' leaves it. Default: 'cancel'.
   */
  readonly onParentEnd?: 'cancel' | 'detach'
}

/** Another run, as a procedure sees it. Its operations are recorded. Returned by `ctx.spawn` and `ctx.get`. */
// biome-ignore lint/complexity/noBannedTypes: an empty object type is allowed
export interface ChildHandle<Output, T = {}> {
  readonly id: string
  /**
   * Waits until the run ends and returns its output.
   * @throws PawlError 'run-failed', 'run-cancelled', 'run-not-found', 'run-quarantined' (its log is damaged)
   * @example const parcel = await shipping.result()
   */
  result(): Promise<Output>
  /**
   * Sends a declared signal. Resolves once the signal is stored.
   * @throws PawlError 'payload-invalid', 'payload-refused', 'run-ended', 'run-not-found', 'run-shared' (this run is a fork), 'option-invalid'
   * @example await ctx.get(order, 'order:7').signal('paid', { cents: 4500 })
   */
  signal<K extends SignalName<T>>(name: K, ...args: SignalArgs<PayloadOf<T, K>, SignalOptions>): Promise<void>
  /**
   * Cancels the run. Resolves once the request is stored, also if the run has ended.
   * @throws PawlError 'run-not-found', 'run-quarantined', 'run-shared' (this run is a fork), 'option-invalid'
   */
  cancel(reason?: string, options?: CancelOptions): Promise<void>
}
