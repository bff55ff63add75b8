import { type MeterProvider, metrics, type TracerProvider, trace } from '@opentelemetry/api'
import type { Observer } from '@pawl/core'
import { Metrics } from './metrics.ts'
import { Spans } from './spans.ts'

/** Options of `otel`. */
export interface OtelOptions {
  /**
   * Whether spans contain results of steps and messages of errors, cut off after 4,096 characters. They may contain prompts and
   * personal data. Default: `false`.
   */
  readonly payloads?: boolean
  /** Provider of the tracer. Default: the global one. */
  readonly tracerProvider?: TracerProvider
  /** Provider of the meter. Default: the global one. */
  readonly meterProvider?: MeterProvider
}

/**
 * Creates an observer that reports to OpenTelemetry. Register the SDK before the first engine starts.
 *
 * Calls, attempts of steps and agents, asks and ends become spans of one trace per run, over restarts and machines. Nothing is
 * reported twice; a crash can lose a span.
 * @example
 * const engine = await createEngine({ store, procedures: [refund], observe: otel() })
 */
export function otel(options: OtelOptions = {}): Observer {
  const { payloads = false, tracerProvider = trace, meterProvider = metrics } = options
  const spans = new Spans(tracerProvider.getTracer('@pawl/otel'), payloads)
  // The API has no proxy for meters: a meter that is taken before the SDK is registered records nothing.
  let created: Metrics | undefined
  const figures = (): Metrics => {
    created ??= new Metrics(meterProvider.getMeter('@pawl/otel'))
    return created
  }
  return {
    called(call) {
      const span = spans.called(call)
      return {
        trace: span.trace,
        done({ run, isNew = false }) {
          if (isNew) figures().started(call.procedure)
          span.done(run)
        },
        failed: (error) => span.failed(error),
      }
    },
    attempted(attempt) {
      const span = spans.attempted(attempt)
      return {
        run: (body) => span.run(body),
        recorded(report) {
          figures().attempted(attempt, report)
          span.recorded(report)
        },
      }
    },
    created: ({ procedure }) => figures().started(procedure),
    closed(ask) {
      figures().closed(ask)
      spans.closed(ask)
    },
    ended(end) {
      figures().ended(end)
      spans.ended(end)
    },
    committed: (commit) => figures().committed(commit),
    attached: (engine) => figures().watch(engine),
  }
}
