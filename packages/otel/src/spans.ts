import {
  type Attributes,
  type Context,
  context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import type {
  AttemptReport,
  ObservedAsk,
  ObservedAttempt,
  ObservedCall,
  ObservedEnd,
  ObservedFailure,
  ObservedRun,
  TraceContext,
} from '@pawl/core'
import { errorType, nameAsk, nameAttempt, nameUsage } from './names.ts'
import { readTrace, writeTrace } from './trace-context.ts'

/** Maximum characters of a payload in a span. */
const maxPayload = 4_096

interface CallSpan {
  readonly trace: TraceContext | undefined
  done(run: string | undefined): void
  failed(error: unknown): void
}
interface AttemptSpan {
  run<Result>(body: () => Result): Result
  recorded(report: AttemptReport): void
}

/** Makes spans. A span that is never recorded is never ended, and so never exported. */
export class Spans {
  readonly #tracer: Tracer
  readonly #payloads: boolean

  constructor(tracer: Tracer, payloads: boolean) {
    this.#tracer = tracer
    this.#payloads = payloads
  }

  called({ verb, run, procedure, by }: ObservedCall): CallSpan {
    const name = verb === 'run' && procedure !== undefined ? `pawl.run ${procedure}` : `pawl.${verb}`
    const attributes = {
      ...nameRun(run),
      ...(procedure === undefined ? {} : { 'pawl.procedure': procedure }),
      ...(by === undefined ? {} : { 'pawl.by': by }),
    }
    const span = this.#tracer.startSpan(name, { kind: SpanKind.PRODUCER, attributes })
    const own = span.spanContext()
    return {
      trace: trace.isSpanContextValid(own) ? writeTrace(own) : undefined,
      done(started) {
        span.setAttributes(nameRun(started))
        span.end()
      },
      failed: (error) => {
        const { name: type = 'Error', code, message = '' } = Object(error) as Partial<ObservedFailure>
        this.#fail(span, { name: type, code: typeof code === 'string' ? code : undefined, message })
        span.end()
      },
    }
  }

  attempted(attempt: ObservedAttempt): AttemptSpan {
    const { span: name, kind, attributes } = nameAttempt(attempt)
    const startedAt = Date.now()
    const own: Attributes = {
      ...nameRun(attempt.run),
      'pawl.procedure': attempt.procedure,
      'pawl.position': attempt.position,
      'pawl.attempt': attempt.number,
    }
    const parent = parentOf(attempt)
    const options = { kind, attributes: { ...own, ...attributes }, startTime: startedAt }
    const span = this.#tracer.startSpan(name, options, parent)
    return {
      run: (body) => context.with(trace.setSpan(context.active(), span), body),
      recorded: ({ tookMs, failure, usage, result }) => {
        span.setAttributes(nameUsage(usage))
        if (failure !== undefined) this.#fail(span, failure)
        else if (this.#payloads) span.setAttribute('pawl.result', show(result()))
        span.end(startedAt + tookMs)
      },
    }
  }

  closed({ kind, position, outcome, openedAt, closedAt, ...run }: ObservedAsk): void {
    const attributes = { 'pawl.position': position, 'pawl.ask.outcome': outcome }
    this.#record(run, `ask ${nameAsk(kind)}`, openedAt, attributes).end(closedAt)
  }

  ended({ status, failure, startedAt, endedAt, ...run }: ObservedEnd): void {
    const span = this.#record(run, 'pawl.run.end', startedAt, { 'pawl.run.status': status })
    if (failure !== undefined) this.#fail(span, failure)
    span.end(endedAt)
  }

  /** Starts a span for what has already happened. */
  #record(run: ObservedRun, name: string, startTime: number, attributes: Attributes): Span {
    const named = { ...nameRun(run.run), 'pawl.procedure': run.procedure, ...attributes }
    return this.#tracer.startSpan(
      name,
      { kind: SpanKind.INTERNAL, attributes: named, startTime },
      parentOf(run),
    )
  }

  #fail(span: Span, failure: ObservedFailure): void {
    span.setAttribute('error.type', errorType(failure))
    const message = this.#payloads ? { message: failure.message.slice(0, maxPayload) } : {}
    span.setStatus({ code: SpanStatusCode.ERROR, ...message })
  }
}

function nameRun(run: string | undefined): Attributes {
  return run === undefined ? {} : { 'pawl.run.id': run }
}

/** The context of the call that started the run, wherever this code is called from. */
function parentOf({ trace: kept }: ObservedRun): Context {
  const parent = readTrace(kept)
  return parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent)
}

function show(value: unknown): string {
  const write = (_: string, one: unknown) => (typeof one === 'bigint' ? `${one}` : one)
  return (JSON.stringify(value, write) ?? 'undefined').slice(0, maxPayload)
}
