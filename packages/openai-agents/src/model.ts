import {
  type Model,
  type ModelRequest,
  type ModelResponse,
  type StreamEvent,
  Usage,
} from '@openai/agents-core'
import { type AgentCall, type AttemptOptions, agent, type Ctx, FinalError, type Schema } from '@pawl/core'

/** Options of {@link durableModel}. */
export interface ModelOptions extends AttemptOptions {
  /** Name of the calls in the log, and in tests that replace them. Range: 1 to 200 characters. */
  readonly name: string
}

/** A response in the form in which the log keeps it. */
type Recorded = Omit<ModelResponse, 'usage'> & { readonly usage: UsageFields }
type UsageFields = NonNullable<ConstructorParameters<typeof Usage>[0]>

// The SDK has checked the response of its provider.
const anything: Schema = {
  '~standard': { version: 1, vendor: 'pawl', validate: (value) => ({ value }) },
}

/**
 * Makes a model of the Agents SDK durable: every call is recorded as one operation of the run, with its usage, and a
 * replay returns the recorded response. A stream is recorded when it has ended.
 *
 * Retries are Pawl's: `retry` and `timeout` apply to each call.
 * @example new Agent({ name: 'desk', model: durableModel(ctx, model, { name: 'gpt-5' }), tools })
 */
export function durableModel(
  ctx: Pick<Ctx, 'agent'>,
  model: Model,
  { name, ...policy }: ModelOptions,
): Model {
  const call = <Result>(body: (call: AgentCall) => Promise<Result>): Promise<Result> => {
    const output = anything as Schema<Result, Result>
    const recorded = agent(
      { ...policy, name, input: anything, output },
      async (_input: unknown, attempt: AgentCall) => {
        try {
          return await body(attempt)
        } catch (error) {
          throw describeFailure(error)
        }
      },
    )
    return ctx.agent(recorded, null)
  }
  return {
    async getResponse(request) {
      const { usage, ...response } = await call(async (attempt): Promise<Recorded> => {
        const given = await model.getResponse(withSignal(request, attempt))
        report(attempt, name, given.usage)
        return { ...given, usage: plainUsage(given.usage) }
      })
      return { ...response, usage: new Usage(usage) }
    },
    async *getStreamedResponse(request) {
      yield* await call(async (attempt): Promise<StreamEvent[]> => {
        const events: StreamEvent[] = []
        for await (const event of model.getStreamedResponse(withSignal(request, attempt))) {
          // The provider's own events repeat what the others say, in a form that is not a payload.
          if (event.type !== 'model') events.push(event)
          if (event.type === 'response_done') report(attempt, name, event.response.usage)
        }
        return events
      })
    },
  }
}

/** Returns the fields of a usage, which is an instance of a class. */
function plainUsage({ requestUsageEntries, ...fields }: Usage): UsageFields {
  return { ...fields, ...(requestUsageEntries && { requestUsageEntries }) }
}

/** Combines the signal of the SDK's call with that of the attempt. */
function withSignal(request: ModelRequest, { signal }: AgentCall): ModelRequest {
  return { ...request, signal: request.signal ? AbortSignal.any([request.signal, signal]) : signal }
}

type Details = { readonly [kind: string]: number }

interface ReportedUsage {
  readonly inputTokens?: number | undefined
  readonly outputTokens?: number | undefined
  readonly inputTokensDetails?: Details | readonly Details[] | undefined
  readonly outputTokensDetails?: Details | readonly Details[] | undefined
}

function report(attempt: AgentCall, model: string, usage: ReportedUsage): void {
  const { inputTokens, outputTokens, inputTokensDetails, outputTokensDetails } = usage
  const details = {
    cachedTokens: sum(inputTokensDetails, 'cached_tokens'),
    reasoningTokens: sum(outputTokensDetails, 'reasoning_tokens'),
  }
  attempt.usage({ model, inputTokens, outputTokens, ...details })
}

/** Adds up one kind of tokens. Undefined if none of the details has it. */
function sum(details: Details | readonly Details[] = [], kind: string): number | undefined {
  const counts = [details].flat().flatMap((one) => one[kind] ?? [])
  return counts.length === 0 ? undefined : counts.reduce((total, count) => total + count, 0)
}

// Requests that the provider refuses for what they contain. 408, 409 and 429 may succeed later.
const retryableRefusals: readonly number[] = [408, 409, 429]

/** Records the status of a refused request. A request that cannot succeed ends the attempts. */
function describeFailure(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { status } = error as { readonly status?: unknown }
  const isFinal =
    typeof status === 'number' && status >= 400 && status < 500 && !retryableRefusals.includes(status)
  if (!isFinal && error.name !== 'AbortError') return error
  return new FinalError(error.message, { cause: error, ...(isFinal && { code: `http-${status}` }) })
}
