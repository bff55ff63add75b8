import type { Counter, Histogram, Meter, ObservableGauge } from '@opentelemetry/api'
import type {
  AttemptReport,
  ObservedAsk,
  ObservedAttempt,
  ObservedCommit,
  ObservedEnd,
  ObservedEngine,
} from '@pawl/core'
import { errorType, nameAsk, nameAttempt } from './names.ts'

/** Records figures. Run ids are not attributes: there would be a series for each run. */
export class Metrics {
  readonly #meter: Meter
  readonly #started: Counter
  readonly #ended: Counter
  readonly #stepDuration: Histogram
  readonly #askDuration: Histogram
  readonly #commitSize: Histogram
  readonly #tokens: Histogram
  readonly #modelDuration: Histogram
  readonly #openAsks: ObservableGauge
  readonly #lag: ObservableGauge

  constructor(meter: Meter) {
    const seconds = (description: string) => ({ unit: 's', description })
    this.#meter = meter
    this.#started = meter.createCounter('pawl.run.started', { unit: '{run}', description: 'Started runs' })
    this.#ended = meter.createCounter('pawl.run.ended', { unit: '{run}', description: 'Ended runs' })
    this.#stepDuration = meter.createHistogram('pawl.step.duration', seconds('Duration of attempts'))
    this.#askDuration = meter.createHistogram('pawl.ask.duration', seconds('Time until an ask closed'))
    const size = { unit: '{event}', description: 'Events in a transaction' }
    this.#commitSize = meter.createHistogram('pawl.commit.size', size)
    const tokens = { unit: '{token}', description: 'Tokens of a model call' }
    this.#tokens = meter.createHistogram('gen_ai.client.token.usage', tokens)
    const calls = seconds('Duration of model calls')
    this.#modelDuration = meter.createHistogram('gen_ai.client.operation.duration', calls)
    const open = { unit: '{ask}', description: 'Open asks of the store, at most 1,000' }
    this.#openAsks = meter.createObservableGauge('pawl.ask.open', open)
    this.#lag = meter.createObservableGauge('pawl.lag', seconds('How long the oldest due run has been due'))
  }

  started(procedure: string | undefined): void {
    this.#started.add(1, procedure === undefined ? {} : { 'pawl.procedure': procedure })
  }

  ended({ procedure, status }: ObservedEnd): void {
    this.#ended.add(1, { 'pawl.procedure': procedure, 'pawl.run.status': status })
  }

  attempted(attempt: ObservedAttempt, { tookMs, failure, usage }: AttemptReport): void {
    const { procedure, name } = attempt
    const error = failure === undefined ? {} : { 'error.type': errorType(failure) }
    this.#stepDuration.record(tookMs / 1_000, { 'pawl.procedure': procedure, 'pawl.step': name, ...error })
    const { model } = nameAttempt(attempt)
    if (model === undefined) return
    this.#modelDuration.record(tookMs / 1_000, { ...model, ...error })
    for (const [member, type] of tokenTypes)
      for (const { [member]: count } of usage)
        if (typeof count === 'number') this.#tokens.record(count, { ...model, 'gen_ai.token.type': type })
  }

  closed({ procedure, kind, outcome, openedAt, closedAt }: ObservedAsk): void {
    const attributes = {
      'pawl.procedure': procedure,
      'pawl.ask.kind': nameAsk(kind),
      'pawl.ask.outcome': outcome,
    }
    this.#askDuration.record((closedAt - openedAt) / 1_000, attributes)
  }

  committed({ events }: ObservedCommit): void {
    this.#commitSize.record(events)
  }

  /** Reads figures of the store whenever metrics are collected. Returns a function that ends this. */
  watch({ readHealth }: ObservedEngine): () => void {
    const gauges = [this.#openAsks, this.#lag]
    const read: Parameters<Meter['addBatchObservableCallback']>[0] = async (result) => {
      // A store that does not answer has no figures.
      const health = await readHealth().catch(() => undefined)
      if (health === undefined) return
      result.observe(this.#openAsks, health.openAsks)
      result.observe(this.#lag, health.oldestDueMs / 1_000)
    }
    this.#meter.addBatchObservableCallback(read, gauges)
    return () => this.#meter.removeBatchObservableCallback(read, gauges)
  }
}

const tokenTypes = [
  ['inputTokens', 'input'],
  ['outputTokens', 'output'],
] as const
