import type { Refused } from '../../base/refused.ts'
import type { RiskLevel, Severity } from '../../base/words.ts'
import type { Schema } from '../../schemas/schema.ts'
import type {
  Approval,
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
  : Refused<"onTimeout: 'approve' needs risk: 'low' or 'medium' to be stated; silence is not consent">

interface ConsentOptions<P, L extends RiskLevel> extends Omit<AskOptions, 'risk' | 'timeout'> {
  /** What will be done. Shown to the person, fills placeholders, and comes back in the answer. */
  readonly params?: P
  /**
   * The params the person may change; all others are refused. Default: none. Without a `schema`, an edit must keep the
   * JSON type of the value it replaces: a number stays a number, an object keeps the types of its keys.
   */
  readonly editable?: readonly (keyof NoInfer<P> & string)[]
  /** Checks edited params. An invalid edit is refused without consuming the question. */
  // biome-ignore lint/suspicious/noExplicitAny: a schema of anything
  readonly schema?: Schema<any, P>
  readonly risk?: L | RiskDetails<L> | undefined
}
/** All options of `approve`. `onTimeout`: default 'reject', seen as `timedOut: true`. */
export type ApproveOptions<P, L extends RiskLevel> = ConsentOptions<P, L> &
  OnTimeout<'reject' | 'fail' | 'keep-waiting' | Escalate | ConsentBySilence<L>>

type Untimed = Omit<AskOptions, 'timeout'>

type ApproveArgs<M extends string, P, L extends RiskLevel> = [Placeholders<M>] extends [never]
  ? [options?: ApproveOptions<P, L> & Data<never>]
  : [options: ApproveOptions<P, L> & Data<Exclude<Placeholders<M>, FilledBy<P>>>]

/** The params that can stand in a sentence. A record of unknown keys fills nothing. */
type FilledBy<P> = string extends keyof P
  ? never
  : { [K in keyof P]: P[K] extends Shown ? K : never }[keyof P]

/**
 * Questions to people. Each is one operation: it opens an ask in the inbox and waits for its answer. What is wrong with
 * its arguments is refused in the call, as PawlError 'option-invalid', 'duration-invalid' or 'payload-refused'.
 */
export interface Human {
  /**
   * May this be done? Yes, no, or yes with changed `params`.
   * Placeholders are filled from `params`, the rest from `data`.
   * @throws PawlError 'ask-timed-out' with `onTimeout: 'fail'`; 'answer-invalid' where `schema` refuses, at the worker,
   * an edit that came in elsewhere
   * @example
   * const approval = await ctx.human.approve('Refund {amount} EUR for {orderId}?', {
   *   params: { orderId, amount }, editable: ['amount'], risk: 'high', timeout: '1h',
   * })
   * if (!approval.approved) return approval.timedOut ? 'nobody answered' : `no: ${approval.comment}`
   * approval.params.amount
   */
  // biome-ignore lint/complexity/noBannedTypes: no params are params
  approve<const M extends string, P extends object = {}, L extends RiskLevel = RiskLevel>(
    message: M,
    ...options: ApproveArgs<M, P, L>
  ): Promise<Approval<P>>

  /**
   * Asks for data. The form is made from the schema; invalid answers are refused and the question stays.
   * @throws PawlError 'ask-timed-out' unless `onTimeout` says otherwise; 'answer-invalid' where the schema refuses, at
   * the worker, what came in elsewhere
   * @example const who = await ctx.human.input('Who are you?', z.object({ name: z.string() }))
   */
  input<const M extends string, V>(
    message: M,
    // biome-ignore lint/suspicious/noExplicitAny: a schema of anything
    schema: Schema<any, V>,
    ...options: Options<M, Untimed & OnTimeout<OrDefault<NoInfer<V>>> & { readonly initial?: Partial<V> }>
  ): Promise<V>

  /**
   * Asks to pick one. Returns the picked value as a union, ready for `switch`.
   * @throws PawlError 'ask-timed-out' unless `onTimeout` says otherwise
   * @example const env = await ctx.human.select('Where to?', ['staging', 'production'])
   */
  select<const M extends string, const C extends readonly Choice[]>(
    message: M,
    choices: C,
    ...options: Options<M, Untimed & OnTimeout<OrDefault<ValueOf<C[number]>>>>
  ): Promise<ValueOf<C[number]>>

  /**
   * Shows something made (a text, a plan, a diff) and asks for a verdict, with edits if `editable`.
   * @throws PawlError 'ask-timed-out' unless `onTimeout` says otherwise; 'answer-invalid' as for `approve`
   * @example const review = await ctx.human.review('Publish this?', post, { editable: true })
   */
  review<const M extends string, A, const C extends readonly Choice[] = readonly ['approve', 'reject']>(
    message: M,
    artifact: A,
    ...options: Options<
      M,
      Untimed &
        OnTimeout<OrDefault<ValueOf<C[number]>>> & {
          /** Default ['approve', 'reject']. */
          readonly choices?: C
          /** Default: false. Without a `schema`, an edit must keep the JSON types of the artifact. */
          readonly editable?: boolean
          /** Checks an edited artifact. An invalid edit is refused without consuming the question. */
          // biome-ignore lint/suspicious/noExplicitAny: a schema of anything
          readonly schema?: Schema<any, NoInfer<A>>
          /** The version before, shown as a diff. */
          readonly baseline?: NoInfer<A>
          readonly as?: Section['as']
        }
    >
  ): Promise<Review<A, ValueOf<C[number]>>>

  /**
   * Something is wrong and only a person can go on. Has no timeout: it waits until somebody resolves it.
   * @example
   * const { choice } = await ctx.human.escalate('Totals differ', { choices: ['retry', 'abort'], error })
   */
  escalate<const M extends string, const C extends readonly Choice[] = readonly ['continue']>(
    message: M,
    ...options: Options<
      M,
      Untimed & {
        readonly timeout?: Refused<'escalate waits until a person resolves it; use select with a timeout instead'>
        /** Default ['continue']. */
        readonly choices?: C
        readonly error?: unknown
        /** Default 'error'. */
        readonly severity?: Severity
      }
    >
  ): Promise<Resolution<ValueOf<C[number]>>>

  /** Tells, without waiting for anybody. Resolves when it is recorded. */
  notify<const M extends string>(
    message: M,
    ...options: Options<
      M,
      Pick<AskOptions, 'to' | 'links' | 'details'> & {
        /** Default 'info'. */
        readonly severity?: Severity
      }
    >
  ): Promise<void>
}
