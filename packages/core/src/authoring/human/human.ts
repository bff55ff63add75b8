import type { Refused } from '../../base/refused.ts'
import type { RiskLevel, Severity } from '../../base/words.ts'
import type { Schema } from '../../schemas/schema.ts'
import type {
  Approval,
  Approved,
  AskOptions,
  Choice,
  Escalate,
  OnTimeout,
  OrDefault,
  Resolution,
  Review,
  RiskDetails,
  Section,
  ValueOf,
} from './ask.ts'
import type { Data, Options, Placeholders, Shown } from './template.ts'

type ConsentBySilence<L extends RiskLevel> = [L] extends ['low' | 'medium']
  ? 'approve'
  : Refused<"onTimeout: 'approve' requires risk: 'low' or 'medium'">

/** What a no does: 'return' it, or 'cancel-run'. */
type OnReject = 'return' | 'cancel-run'

interface ConsentOptions<P, L extends RiskLevel, N extends OnReject>
  extends Omit<AskOptions, 'risk' | 'timeout'> {
  /** What will be done: shown to the person, fills placeholders, and is returned in the answer. Default: `{}`. */
  readonly params?: P
  /**
   * Names of the `params` that the person may change. Without a `schema`, an edit keeps the JSON type of the value it
   * replaces: a number stays a number, an object keeps the types of its keys. Default: none.
   */
  readonly editable?: readonly (keyof NoInfer<P> & string)[]
  /** Schema of the edited params; it must not transform. An invalid edit is rejected and the ask stays open. Default: none. */
  // biome-ignore lint/suspicious/noExplicitAny: a schema of anything
  readonly schema?: Schema<any, P>
  /** Risk of the action; asks with a higher risk come first in the inbox. Default: not stated. */
  readonly risk?: L | RiskDetails<L> | undefined
  /**
   * What follows from a yes and from a no, in words, shown with the buttons. Default: none; with `onReject: 'cancel-run'`, that a no
   * cancels the run. Range: 1 to 1,000 characters each.
   */
  readonly effect?: { readonly approve?: string; readonly reject?: string }
  /**
   * What a no does, or a timeout that counts as one: 'cancel-run' cancels the run, so that only a yes is returned; `finally`
   * blocks, shields and undos run as for any cancel. Default: 'return'.
   */
  readonly onReject?: N
}

/** What `input` takes beside its schema. */
export interface InputOptions<V> {
  /** Values that the form shows before the person enters anything. Default: none. */
  readonly initial?: Partial<V>
}

/** What `review` takes beside the artifact. */
export interface ReviewOptions<A, C extends readonly Choice[]> {
  /** Verdicts to choose from. Default: `['approve', 'reject']`. Range: at least one. */
  readonly choices?: C
  /** Whether the person may edit the artifact. Without a `schema`, an edit keeps the JSON types of the artifact. Default: `false`. */
  readonly editable?: boolean
  /** Schema of the edited artifact; it must not transform. An invalid edit is rejected and the ask stays open. Default: none. */
  // biome-ignore lint/suspicious/noExplicitAny: a schema of anything
  readonly schema?: Schema<any, NoInfer<A>>
  /** Earlier version of the artifact, shown as a diff. Default: none. */
  readonly baseline?: NoInfer<A>
  /** Format in which the inbox shows the artifact. Default: the inbox decides. */
  readonly as?: Section['as']
}

type Untimable = 'escalate waits until a person resolves it; use select with a timeout instead'

/** What `escalate` takes beside its message. */
export interface EscalateOptions<C extends readonly Choice[]> {
  readonly timeout?: Refused<Untimable>
  readonly onTimeout?: Refused<Untimable>
  /** Ways to continue. Default: `['continue']`. Range: at least one. */
  readonly choices?: C
  /** Error to show. Default: none. */
  readonly error?: unknown
  /** Severity of the problem. Default: 'error'. */
  readonly severity?: Severity
}

/** What `notify` takes beside its message. */
export interface NotifyOptions extends Pick<AskOptions, 'to' | 'links' | 'details'> {
  /** Severity of the notice. Default: 'info'. */
  readonly severity?: Severity
}

/** All options of `approve`. `onTimeout`: default 'reject', seen as `timedOut: true`. */
export type ApproveOptions<P, L extends RiskLevel, N extends OnReject = OnReject> = ConsentOptions<P, L, N> &
  OnTimeout<'reject' | 'fail' | 'keep-waiting' | Escalate | ConsentBySilence<L>>

/** How people are asked for consent to an action. */
export type ConsentAsk<P> = Omit<ConsentOptions<P, RiskLevel, OnReject>, 'params' | 'onReject'> &
  OnTimeout<'reject' | 'fail' | 'keep-waiting' | Escalate | ConsentBySilence<RiskLevel>> & {
    /** Text of the question; its placeholders are filled from the params, and then from `data`. Default: the name with a question mark. */
    readonly message?: string
    /** Values for the placeholders of the message. Default: none. */
    readonly data?: { readonly [name: string]: Shown }
  }

type Untimed = Omit<AskOptions, 'timeout'>

type ApproveArgs<M extends string, P, L extends RiskLevel, N extends OnReject> = [Placeholders<M>] extends [
  never,
]
  ? [options?: ApproveOptions<P, L, N> & Data<never>]
  : [options: ApproveOptions<P, L, N> & Data<Exclude<Placeholders<M>, FilledBy<P>>>]

/** The params that can be formatted in a message. A record with unknown keys fills no placeholders. */
type FilledBy<P> = string extends keyof P
  ? never
  : { [K in keyof P]: P[K] extends Shown ? K : never }[keyof P]

/**
 * Asks people. Each call opens an ask in the inbox and waits for its answer. Invalid arguments make the call reject
 * with PawlError 'option-invalid', 'duration-invalid' or 'payload-refused'.
 */
export interface Human {
  /**
   * Asks for an approval: yes, no, or yes with changed `params`. Placeholders of the message are filled from `params`, and
   * then from `data`.
   * @throws PawlError 'ask-timed-out' (with `onTimeout: 'fail'`), 'cancelled' (at a no, with `onReject: 'cancel-run'`),
   * 'answer-invalid' (if `schema` rejects, in the worker, an edit that another process accepted)
   * @example
   * const approval = await ctx.human.approve('Refund {amount} EUR for {orderId}?', {
   *   params: { orderId, amount }, editable: ['amount'], risk: 'high', timeout: '1h',
   * })
   * if (!approval.approved) return approval.timedOut ? 'no answer' : `no: ${approval.comment}`
   * approval.params.amount
   */
  approve<
    const M extends string,
    // biome-ignore lint/complexity/noBannedTypes: no params are params
    P extends object = {},
    L extends RiskLevel = RiskLevel,
    N extends OnReject = 'return',
  >(
    message: M,
    ...options: ApproveArgs<M, P, L, N>
  ): Promise<N extends 'cancel-run' ? Approved<P> : Approval<P>>

  /**
   * Asks for data. The form is built from the schema, which must not transform. An invalid answer is rejected and the ask
   * stays open.
   * @throws PawlError 'ask-timed-out' (unless `onTimeout` says otherwise), 'answer-invalid' (if the schema rejects, in the
   * worker, an answer that another process accepted)
   * @example const who = await ctx.human.input('Who are you?', z.object({ name: z.string() }))
   */
  input<const M extends string, V>(
    message: M,
    // biome-ignore lint/suspicious/noExplicitAny: a schema of anything
    schema: Schema<any, V>,
    ...options: Options<M, Untimed & OnTimeout<OrDefault<NoInfer<V>>> & InputOptions<V>>
  ): Promise<V>

  /**
   * Asks for one of several choices. Returns the value of the choice, typed as a union.
   * @throws PawlError 'ask-timed-out' (unless `onTimeout` says otherwise)
   * @example const env = await ctx.human.select('Where to?', ['staging', 'production'])
   */
  select<const M extends string, const C extends readonly Choice[]>(
    message: M,
    choices: C,
    ...options: Options<M, Untimed & OnTimeout<OrDefault<ValueOf<C[number]>>>>
  ): Promise<ValueOf<C[number]>>

  /**
   * Shows an artifact (a text, a plan, a diff) and asks for a verdict. The person can edit it if it is `editable`.
   * @throws PawlError 'ask-timed-out' (unless `onTimeout` says otherwise), 'answer-invalid' (as for `approve`)
   * @example const review = await ctx.human.review('Publish this?', post, { editable: true })
   */
  review<const M extends string, A, const C extends readonly Choice[] = readonly ['approve', 'reject']>(
    message: M,
    artifact: A,
    ...options: Options<M, Untimed & OnTimeout<OrDefault<ValueOf<C[number]>>> & ReviewOptions<A, C>>
  ): Promise<Review<A, ValueOf<C[number]>>>

  /**
   * Reports a problem and waits until a person chooses how to continue. It has no timeout.
   * @example
   * const { choice } = await ctx.human.escalate('Totals differ', { choices: ['retry', 'abort'], error })
   */
  escalate<const M extends string, const C extends readonly Choice[] = readonly ['continue']>(
    message: M,
    ...options: Options<M, Untimed & EscalateOptions<C>>
  ): Promise<Resolution<ValueOf<C[number]>>>

  /**
   * Tells people something that needs no answer. The inbox lists it, channels and webhooks deliver it, and the logger of the
   * engine has it at the level of its severity. Resolves when the notice is recorded: ask if the run must know that a person
   * has seen it.
   * @example await ctx.human.notify('Order {id} is late', { data: { id }, severity: 'warning' })
   */
  notify<const M extends string>(message: M, ...options: Options<M, NotifyOptions>): Promise<void>
}
