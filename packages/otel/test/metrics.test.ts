import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { agent, createEngine, procedure } from '@pawl/core'
import { otel } from '@pawl/otel'
import { memory } from '@pawl/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'

const model = agent({ name: 'acme/large', input: z.string(), output: z.string() }, async (_, { usage }) => {
  usage({ inputTokens: 11, outputTokens: 3 })
  return 'said'
})
const child = procedure({ name: 'child' }, async () => 1)
const desk = procedure({ name: 'desk' }, async (ctx) => {
  await ctx.step('load', () => 1)
  await ctx.agent(model, 'hello')
  await ctx.call(child)
  await ctx.human.approve('Continue?', { key: 'continue' })
})

test('runs, attempts, asks, commits and model calls are counted, without ids of runs', async () => {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 })
  const meterProvider = new MeterProvider({ readers: [reader] })
  const observe = otel({ meterProvider })
  const collect = async () => {
    await reader.forceFlush()
    const [scope] = exporter.getMetrics().at(-1)?.scopeMetrics ?? []
    return new Map(scope?.metrics.map(({ descriptor, dataPoints }) => [descriptor.name, dataPoints]))
  }
  const engine = await createEngine({ store: memory(), procedures: [desk, child], observe })
  const run = await engine.run(desk)
  await engine.run(desk, undefined, { id: run.id })
  await engine.inbox.next({ run: run.id })
  const waiting = await collect()
  expect(waiting.get('pawl.ask.open')).toMatchObject([{ value: 1 }])
  expect(waiting.get('pawl.lag')).toMatchObject([{ value: 0 }])
  await engine.inbox.answer({ run: run.id, key: 'continue' }, { approved: true }, { as: 'user:ana' })
  await run.result()
  const found = await collect()
  const of = (name: string) => found.get(name)?.map(({ value, attributes }) => ({ value, attributes }))
  expect(of('pawl.run.started')).toEqual([
    { value: 1, attributes: { 'pawl.procedure': 'desk' } },
    { value: 1, attributes: { 'pawl.procedure': 'child' } },
  ])
  expect(of('pawl.run.ended')).toEqual([
    { value: 1, attributes: { 'pawl.procedure': 'child', 'pawl.run.status': 'completed' } },
    { value: 1, attributes: { 'pawl.procedure': 'desk', 'pawl.run.status': 'completed' } },
  ])
  expect(of('pawl.step.duration')).toMatchObject([
    { value: { count: 1 }, attributes: { 'pawl.procedure': 'desk', 'pawl.step': 'load' } },
    { value: { count: 1 }, attributes: { 'pawl.step': 'acme/large' } },
  ])
  expect(of('pawl.ask.duration')).toMatchObject([
    { value: { count: 1 }, attributes: { 'pawl.ask.kind': 'approval', 'pawl.ask.outcome': 'answered' } },
  ])
  expect(of('gen_ai.client.token.usage')).toMatchObject([
    { value: { sum: 11 }, attributes: { 'gen_ai.token.type': 'input' } },
    { value: { sum: 3 }, attributes: { 'gen_ai.token.type': 'output' } },
  ])
  expect(of('gen_ai.client.operation.duration')).toMatchObject([{ value: { count: 1 } }])
  expect(of('pawl.commit.size')).toMatchObject([{ value: { min: 1 } }])
  expect(JSON.stringify([...found])).not.toContain(run.id)
  await engine.stop()
  await meterProvider.shutdown()
})
