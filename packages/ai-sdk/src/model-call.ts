import { type AgentCall, type AttemptOptions, agent, type Ctx, type Schema } from '@pawl/core'
import { describeFailure, isRetryable } from './failure.ts'

/** The part of a context that models need. */
export type ModelCtx = Pick<Ctx, 'agent'>

/** Options of a durable model. */
export interface ModelOptions extends AttemptOptions {
  /**
   * Name of the calls in the log, and in tests that replace them. Default: `provider/model`. Range: 1 to 200 characters.
   */
  readonly name?: string
}

/** The cost of a call as the model reports it. Undefined fields are not recorded. */
export interface ModelUsage {
  readonly model: string
  readonly inputTokens?: number | undefined
  readonly outputTokens?: number | undefined
  readonly cachedTokens?: number | undefined
  readonly reasoningTokens?: number | undefined
}

// The provider has checked its own results.
const anything: Schema = {
  '~standard': { version: 1, vendor: 'pawl', validate: (value) => ({ value }) },
}

/** The parameters common to all calls of the SDK to a model. */
interface CallParams {
  readonly abortSignal?: AbortSignal | undefined
}

/**
 * Runs a call to a model as one operation of the run, of kind `llm`. Errors that the provider marks as not retryable, and
 * aborts by the SDK, end the attempts.
 */
export function callModel<Params extends CallParams, Result>(
  ctx: ModelCtx,
  model: { readonly provider: string; readonly modelId: string },
  { name, retry, ...options }: ModelOptions,
  params: Params,
  body: (call: AgentCall, params: Params) => Promise<Result>,
): Promise<Result> {
  const spec = {
    ...options,
    name: name ?? `${model.provider}/${model.modelId}`.slice(0, 200),
    input: anything,
    output: anything as Schema<Result, Result>,
    retry: retry === false ? retry : { ...retry, when: chooseRetry(retry?.when) },
  }
  const recorded = agent(spec, async (_input: unknown, call: AgentCall) => {
    try {
      return await body(call, withSignal(params, call))
    } catch (error) {
      throw describeFailure(error, params.abortSignal?.aborted === true)
    }
  })
  return ctx.agent(recorded, null)
}

function chooseRetry(wanted: ((error: unknown) => boolean) | undefined): (error: unknown) => boolean {
  return (error) => isRetryable(error) && (wanted?.(causeOf(error)) ?? true)
}

/** Returns the provider's own error, which `when` of the caller expects. */
function causeOf(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? error.cause : error
}

/** Combines the signal of the SDK's call with that of the attempt. */
function withSignal<Params extends CallParams>(params: Params, { signal }: AgentCall): Params {
  const { abortSignal } = params
  return { ...params, abortSignal: abortSignal ? AbortSignal.any([abortSignal, signal]) : signal }
}
