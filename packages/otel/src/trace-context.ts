import { createTraceState, type SpanContext } from '@opentelemetry/api'
import type { TraceContext } from '@pawl/core'

/** Writes the context of a span as W3C headers. */
export function writeTrace({ traceId, spanId, traceFlags, traceState }: SpanContext): TraceContext {
  const traceparent = `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
  const tracestate = traceState?.serialize()
  return tracestate === undefined || tracestate === '' ? { traceparent } : { traceparent, tracestate }
}

/** Reads W3C headers; undefined if they are not valid. */
export function readTrace(trace: TraceContext | undefined): SpanContext | undefined {
  const found = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})/.exec(trace?.traceparent ?? '')
  if (found === null) return undefined
  const [, traceId = '', spanId = '', flags = ''] = found
  const { tracestate } = trace ?? {}
  return {
    ...{ traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true },
    ...(tracestate === undefined ? {} : { traceState: createTraceState(tracestate) }),
  }
}
