import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { agent, createClient, createEngine, procedure, type StepCall } from '@pawl/core'
import { otel } from '@pawl/otel'
import { sqlite } from '@pawl/storage-sqlite'
import { testEngine } from '@pawl/testing'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { keepSpans } from './support.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const model = agent({ name: 'acme/large', input: z.string(), output: z.string() }, async (_, { usage }) => {
  usage({ model: 'large-7', inputTokens: 11, outputTokens: 3 })
  return 'said'
})

test('calls, attempts, asks and ends are spans below the call that started the run', async () => {
  const { tracerProvider, spans } = keepSpans()
  const tracer = tracerProvider.getTracer('test')
  const child = procedure({ name: 'child' }, (ctx) => ctx.step('of child', () => 1))
  const desk = procedure({ name: 'desk', signals: { go: z.object({}) } }, async (ctx) => {
    const load = ({ attempt }: StepCall) => {
      tracer.startSpan('GET').end()
      if (attempt === 1) throw new TypeError('first')
    }
    await ctx.step('load', load, { retry: { attempts: 2, backoff: '1s' } })
    await ctx.agent(model, 'hello')
    await ctx.step('tool refund', () => 1)
    await ctx.receive('go')
    await ctx.human.approve('Continue?', { key: 'continue' })
    return ctx.call(child)
  })
  await using engine = await testEngine({ procedures: [desk, child], observe: otel({ tracerProvider }) })
  const caller = tracer.startSpan('caller')
  const run = await context.with(trace.setSpan(context.active(), caller), () =>
    engine.run(desk, undefined, { id: 'desk:1' }),
  )
  await run.signal('go', {})
  const ask = await engine.inbox.next({ run: 'desk:1' })
  await engine.inbox.answer({ run: 'desk:1', key: 'continue' }, { approved: true }, { as: 'user:ana' })
  expect(ask.kind).toBe('approve')
  expect(await run.result()).toBe(1)
  const named = new Map(spans().map((span) => [span.spanContext().spanId, span.name]))
  const of = caller.spanContext().spanId
  const table = spans().map(({ name, kind, parentSpanContext }) => {
    const parent = parentSpanContext?.spanId
    return [name, SpanKind[kind], parent === of ? 'caller' : (named.get(parent ?? '') ?? '-')].join(' < ')
  })
  expect(table.toSorted()).toEqual(
    [
      'GET < INTERNAL < step load',
      'GET < INTERNAL < step load',
      'ask approval < INTERNAL < pawl.run desk',
      'chat large < CLIENT < pawl.run desk',
      'execute_tool refund < INTERNAL < pawl.run desk',
      'pawl.answer < PRODUCER < -',
      'pawl.run desk < PRODUCER < caller',
      'pawl.run.end < INTERNAL < pawl.run desk',
      'pawl.run.end < INTERNAL < pawl.run desk',
      'pawl.signal < PRODUCER < -',
      'step load < INTERNAL < pawl.run desk',
      'step load < INTERNAL < pawl.run desk',
      'step of child < INTERNAL < pawl.run desk',
    ].toSorted(),
  )
  const find = (name: string) => spans().filter((span) => span.name === name)
  expect(
    find('step load').map(({ attributes, status }) => [attributes['pawl.attempt'], status.code]),
  ).toEqual([
    [1, SpanStatusCode.ERROR],
    [2, SpanStatusCode.UNSET],
  ])
  expect(find('chat large')[0]?.attributes).toMatchObject({
    'pawl.run.id': 'desk:1',
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'acme',
    'gen_ai.system': 'acme',
    'gen_ai.request.model': 'large',
    'gen_ai.response.model': 'large-7',
    'gen_ai.usage.input_tokens': 11,
    'gen_ai.usage.output_tokens': 3,
  })
  expect(find('ask approval')[0]?.attributes).toMatchObject({ 'pawl.ask.outcome': 'answered' })
  expect(find('pawl.run.end')[0]?.attributes).toMatchObject({ 'pawl.run.status': 'completed' })
})

test('a run over two engines and three restarts is one trace', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-otel-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'pawl.db')
  const desk = procedure({ name: 'desk' }, async (ctx) => {
    await ctx.step('first', () => 1)
    await ctx.human.approve('Continue?', { key: 'one' })
    await ctx.step('second', () => 2)
    await ctx.human.approve('And now?', { key: 'two' })
    return ctx.step('third', () => 3)
  })
  const { tracerProvider, spans } = keepSpans()
  const start = () =>
    createEngine({
      ...{ store: sqlite(file), procedures: [desk], logger: silent },
      observe: otel({ tracerProvider }),
    })
  const client = createClient({ store: sqlite(file), observe: otel({ tracerProvider }) })
  const run = await client.run(desk, undefined, { id: 'desk' })
  const answer = async (key: string) => {
    await client.inbox.next({ run: 'desk' })
    await client.inbox.answer({ run: 'desk', key }, { approved: true }, { as: 'user:ana' })
  }
  for (const key of ['one', undefined, 'two']) {
    const engine = await start()
    if (key !== undefined) await answer(key)
    await engine.stop()
  }
  const engines = await Promise.all([start(), start()])
  expect(await run.result()).toBe(3)
  await Promise.all(engines.map((engine) => engine.stop()))
  await client.stop()
  const ofRun = spans().filter(({ name }) => name !== 'pawl.answer')
  expect(ofRun.map(({ name }) => name).toSorted()).toEqual(
    [
      ...['pawl.run desk', 'pawl.run.end', 'ask approval', 'ask approval'],
      ...['step first', 'step second', 'step third'],
    ].toSorted(),
  )
  expect(new Set(ofRun.map((span) => span.spanContext().traceId)).size).toBe(1)
})

const secret = 'S3CRET'
const telling = procedure({ name: 'telling', input: z.string() }, async (ctx, input) => {
  const use = ({ attempt }: StepCall) => {
    if (attempt === 1) throw new Error(`cannot use ${secret}`)
    return input
  }
  await ctx.step('use', use, { retry: { attempts: 2, backoff: '1ms' } })
  await ctx.agent(model, secret)
  await ctx.human.approve(`Pay ${secret}?`, { key: 'pay', params: { secret } })
  throw new Error(secret)
})

async function tell(payloads: boolean): Promise<string> {
  const { tracerProvider, spans } = keepSpans()
  const observe = otel({ tracerProvider, ...(payloads ? { payloads } : {}) })
  await using engine = await testEngine({ procedures: [telling], observe })
  const run = await engine.run(telling, secret, { id: 'telling' })
  await engine.inbox.next({ run: 'telling' })
  const answer = { approved: true, comment: secret }
  await engine.inbox.answer({ run: 'telling', key: 'pay' }, answer, { as: 'user:ana' })
  await run.result().catch(() => {})
  expect(spans().length).toBeGreaterThan(5)
  return JSON.stringify(
    spans().map(({ name, attributes, events, status }) => ({ name, attributes, events, status })),
  )
}

test('spans contain no input, prompt, result, answer or error message', async () => {
  expect(await tell(false)).not.toContain(secret)
})

test('spans contain results and error messages if asked for', async () => {
  const told = await tell(true)
  expect(told).toContain(`cannot use ${secret}`)
  expect(told).toContain(`"pawl.result":"\\"${secret}\\""`)
})

test('a repeated start is another call, and the run stays in the trace of the first', async () => {
  const { tracerProvider, spans } = keepSpans()
  const late = procedure({ name: 'late' }, async (ctx) => {
    await ctx.human.approve('Now?', { key: 'now' })
    return ctx.step('late', () => 1)
  })
  await using engine = await testEngine({ procedures: [late], observe: otel({ tracerProvider }) })
  await engine.run(late, undefined, { id: 'late' })
  const run = await engine.run(late, undefined, { id: 'late' })
  await engine.inbox.answer({ run: 'late', key: 'now' }, { approved: true }, { as: 'user:ana' })
  expect(await run.result()).toBe(1)
  const traceOf = (name: string) =>
    spans()
      .filter((span) => span.name === name)
      .map((span) => span.spanContext().traceId)
  const [first, second] = traceOf('pawl.run late')
  expect(second).not.toBe(first)
  expect([...traceOf('step late'), ...traceOf('pawl.run.end')]).toEqual([first, first])
})
