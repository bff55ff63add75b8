import { type Ctx, procedure, type StepCall } from '@pawl/core'
import { otel } from '@pawl/otel'
import { testEngine } from '@pawl/testing'
import fc from 'fast-check'
import { expect } from 'vitest'
import { keepSpans } from './support.ts'

/** An operation of a random program. */
type Part =
  | { readonly do: 'step'; readonly failures: number }
  | { readonly do: 'ask' | 'sleep' | 'child' }
  | { readonly do: 'all'; readonly parts: readonly Part[] }

const simple: fc.Arbitrary<Part> = fc.oneof(
  fc.record({ do: fc.constant('step' as const), failures: fc.integer({ min: 0, max: 2 }) }),
  fc.constantFrom<Part>({ do: 'ask' }, { do: 'sleep' }, { do: 'child' }),
)
const part = fc.oneof(
  { weight: 3, arbitrary: simple },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('all' as const), parts: fc.array(simple, { maxLength: 4 }) }),
  },
)
const program = fc.record({
  parts: fc.array(part, { minLength: 1, maxLength: 5 }),
  crashes: fc.constantFrom('never' as const, 'every' as const, 'in bodies' as const),
  replay: fc.constantFrom('always' as const, 'on-crash' as const),
})
type Program = typeof program extends fc.Arbitrary<infer One> ? One : never

/** Runs random programs under crashes. No attempt, ask or end has two spans, and without a crash each has one. */
export async function checkSpans(programs: number): Promise<{ readonly repeatedBodies: number }> {
  let repeatedBodies = 0
  await fc.assert(
    fc.asyncProperty(program, async (one) => {
      const { spans, bodies } = await play(one)
      for (const [key, count] of spans) expect(count, key).toBe(1)
      for (const count of bodies.values()) if (count > 1) repeatedBodies += 1
      if (one.crashes !== 'never') return
      const steps = [...spans.keys()].filter((key) => key.startsWith('step '))
      expect(steps.toSorted()).toEqual([...bodies.keys()].toSorted())
      expect(spans.has('pawl.run.end of main at ')).toBe(true)
    }),
    { numRuns: programs },
  )
  return { repeatedBodies }
}

async function play({ parts, crashes, replay }: Program) {
  const { tracerProvider, spans } = keepSpans()
  const bodies = new Map<string, number>()
  let crash = (): void => {}
  const count = (ctx: Ctx, number: number, { attempt }: StepCall, failures: number): void => {
    const key = `step s${number} of ${ctx.runId} attempt ${attempt}`
    add(bodies, key)
    if (crashes === 'in bodies' && number % 2 === 1 && bodies.get(key) === 1) crash()
    if (attempt <= failures) throw new Error('not yet')
  }
  let number = 0
  const child = procedure({ name: 'child' }, (ctx) => ctx.step('s0', (call) => count(ctx, 0, call, 0)))
  const runPart = async (ctx: Ctx, one: Part): Promise<unknown> => {
    const own = ++number
    switch (one.do) {
      case 'step': {
        const retry = { attempts: 5, backoff: '1ms' } as const
        return ctx.step(`s${own}`, (call) => count(ctx, own, call, one.failures), { retry })
      }
      case 'ask':
        return ctx.human.approve('Continue?')
      case 'sleep':
        return ctx.sleep('1s')
      case 'child':
        return ctx.call(child)
      case 'all':
        return Promise.all(one.parts.map((each) => runPart(ctx, each)))
    }
  }
  const main = procedure({ name: 'main' }, async (ctx) => {
    number = 0
    for (const one of parts) await runPart(ctx, one)
  })
  await using engine = await testEngine({
    procedures: [main, child],
    replay,
    observe: otel({ tracerProvider }),
  })
  engine.humans({ ask: 'Continue?', answer: { approved: true }, after: '1h' })
  crash = () => void engine.crash('now')
  const run = await engine.run(main, undefined, { id: 'main' })
  if (crashes === 'every') await engine.crash('every')
  await run.result()
  const keys = new Map<string, number>()
  for (const { name, attributes } of spans()) {
    const [id, position, attempt] = ['pawl.run.id', 'pawl.position', 'pawl.attempt'].map((one) =>
      String(attributes[one] ?? ''),
    )
    // Calls of clients, each of which is one.
    if (name.startsWith('pawl.run ') || name === 'pawl.answer') continue
    const isStep = name.startsWith('step ')
    add(keys, isStep ? `${name} of ${id} attempt ${attempt}` : `${name} of ${id} at ${position}`)
  }
  return { spans: keys, bodies }
}

function add(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}
