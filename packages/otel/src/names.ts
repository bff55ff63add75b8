import { type Attributes, SpanKind } from '@opentelemetry/api'
import type { AttemptReport, ObservedAttempt, ObservedFailure } from '@pawl/core'

// The names of attributes and spans. `gen_ai.*` are the GenAI conventions of OpenTelemetry, which are in development: those
// since 1.37 (`gen_ai.provider.name`), with the earlier `gen_ai.system` beside it unless
// OTEL_SEMCONV_STABILITY_OPT_IN contains `gen_ai_latest_experimental`.

const optIn = 'gen_ai_latest_experimental'
const isLatest = (process.env['OTEL_SEMCONV_STABILITY_OPT_IN'] ?? '').split(',').includes(optIn)

/** The names of an attempt. */
export interface AttemptNames {
  readonly span: string
  readonly kind: SpanKind
  readonly attributes: Attributes
  /** Attributes of `gen_ai` metrics; undefined if no model is called. */
  readonly model: Attributes | undefined
}

/** Models of adapters are named `provider/model`, and tools `tool name`. */
export function nameAttempt({ kind, name }: ObservedAttempt): AttemptNames {
  const internal = { kind: SpanKind.INTERNAL, model: undefined }
  if (kind === 'llm') {
    const slash = name.indexOf('/')
    if (slash > 0) return nameModel(name.slice(0, slash), name.slice(slash + 1))
    const attributes = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': name }
    return { ...internal, span: `invoke_agent ${name}`, attributes }
  }
  if (kind === 'step' && name.startsWith('tool ')) {
    const tool = name.slice('tool '.length)
    const attributes = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': tool }
    return { ...internal, span: `execute_tool ${tool}`, attributes }
  }
  return { ...internal, span: `${kind === 'ail_decision' ? 'decide' : kind} ${name}`, attributes: {} }
}

function nameModel(provider: string, model: string): AttemptNames {
  const attributes = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': provider,
    'gen_ai.request.model': model,
    ...(isLatest ? {} : { 'gen_ai.system': provider }),
  }
  return { span: `chat ${model}`, kind: SpanKind.CLIENT, attributes, model: attributes }
}

/** Token counts, and the model that answered, added up over the reports of an attempt. */
export function nameUsage(usage: AttemptReport['usage']): Attributes {
  const input = sum(usage, 'inputTokens')
  const output = sum(usage, 'outputTokens')
  const model = usage.findLast((one) => typeof one['model'] === 'string')?.['model'] as string | undefined
  return {
    ...(input === undefined ? {} : { 'gen_ai.usage.input_tokens': input }),
    ...(output === undefined ? {} : { 'gen_ai.usage.output_tokens': output }),
    ...(model === undefined ? {} : { 'gen_ai.response.model': model }),
  }
}

function sum(usage: AttemptReport['usage'], member: string): number | undefined {
  const counts = usage.map((one) => one[member]).filter((count) => typeof count === 'number')
  return counts.length === 0 ? undefined : counts.reduce((total, count) => total + count, 0)
}

/** The class of an error: its code, or its name. */
export function errorType({ code, name }: Pick<ObservedFailure, 'code' | 'name'>): string {
  return code ?? name
}

/** The kind of an ask, as people know it: `hitl_approval` is an approval. */
export function nameAsk(kind: string): string {
  return kind.replace(/^(hitl|ail)_/, '')
}
