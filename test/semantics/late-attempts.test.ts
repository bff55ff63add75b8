import { type Gate, type PolicyVerdict, procedure } from '@pawl/core'
import { memory, testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'

/** A procedure that pays behind a gate, and its world. */
function makePay(given: Partial<Gate<object, unknown, string>> = {}) {
  const world = { version: 1, isDown: true, reads: 0, acts: [] as { facts: unknown; key: string }[] }
  const pay = procedure({ name: 'pay' }, (ctx) =>
    ctx.gate('pay', {
      params: { cents: 5 },
      retry: false,
      run: (_, { idempotencyKey: key }, facts) => {
        world.acts.push({ facts, key })
        if (world.isDown) throw new Error('the bank is down')
        return 'paid'
      },
      ...given,
    }),
  )
  const facts = (): number => {
    world.reads++
    return world.version
  }
  return { pay, world, facts }
}

const sectionsOf = ({ details }: { details: readonly { title: string; body: unknown }[] }) =>
  details.map(({ title, body }) => [title, body])

const attempted = ['Asked again', 'An earlier attempt of the action may have had its effect.']

describe.each(['backoff', 'retry'] as const)('a later attempt by %s', (by) => {
  /** Answers with yes, lets the first attempt fail, and begins the second one ten hours later, in a changed world. */
  async function attemptLater(
    given: (facts: () => number) => Partial<Gate<object, unknown, string>>,
    change: (world: { version: number }) => void = () => {},
  ) {
    const made: ReturnType<typeof makePay> = makePay({
      ...given(() => made.facts()),
      ...(by === 'backoff' ? { retry: { attempts: 2, backoff: '10h', jitter: 'none' } } : {}),
    })
    const { pay, world } = made
    const engine = await testEngine({ procedures: [pay], humans: [{ ask: /./, answer: 'silence' }] })
    const run = await engine.run(pay, undefined, { id: 'p' })
    const { id } = await engine.inbox.next()
    await engine.inbox.answer(id, { approved: true }, { as: 'user:ana' })
    if (by === 'retry') await run.result().catch(() => {})
    else await engine.advance('1h')
    expect(world.acts).toHaveLength(1)
    await engine.advance('8h')
    world.isDown = false
    change(world)
    if (by === 'retry') await engine.retry('p')
    await engine.advance('2h')
    return { engine, run, world }
  }

  test('asks again if the facts have changed, and tries with the same key', async () => {
    const { engine, run, world } = await attemptLater(
      (facts) => ({ facts }),
      (changed) => {
        changed.version = 2
      },
    )
    await using _ = engine
    expect(world.acts).toHaveLength(1)
    const again = await engine.inbox.next()
    expect(sectionsOf(again)).toEqual([attempted, ['Facts, changed since', { before: 1, now: 2 }]])
    await engine.inbox.answer(again.id, { approved: true }, { as: 'user:bo' })
    expect(await run.result()).toMatchObject({ done: true, by: 'user:bo' })
    expect(world.acts.map(({ facts }) => facts)).toEqual([1, 2])
    expect(new Set(world.acts.map(({ key }) => key)).size).toBe(1)
  })

  test('asks again if the yes has expired, and a no says that the action may have been done', async () => {
    const { engine, run, world } = await attemptLater(() => ({ validFor: '4h' }))
    await using _ = engine
    expect(world.acts).toHaveLength(1)
    const again = await engine.inbox.next()
    expect(sectionsOf(again)).toEqual([
      ['Asked again', expect.stringMatching(/^The yes of user:ana at .* has expired\.$/)],
      attempted,
    ])
    await engine.inbox.answer(again.id, { approved: false }, { as: 'user:bo' })
    expect(await run.result()).toEqual({ done: false, reason: 'rejected', by: 'user:bo', attempted: true })
    expect(world.acts).toHaveLength(1)
  })

  test('asks no one while the consent holds', async () => {
    const { engine, run, world } = await attemptLater((facts) => ({ facts, validFor: '11h' }))
    await using _ = engine
    expect(await run.result()).toMatchObject({ done: true, by: 'user:ana' })
    expect(world.acts.map(({ facts }) => facts)).toEqual([1, 1])
    expect(world.reads).toBe(3)
  })

  test('passes the facts as they are if a policy allows the action', async () => {
    const made: ReturnType<typeof makePay> = makePay({
      ...{ facts: () => made.facts(), policy: () => 'allow' },
      ...(by === 'backoff' ? { retry: { attempts: 2, backoff: '10h', jitter: 'none' } } : {}),
    })
    const { pay, world } = made
    await using engine = await testEngine({ procedures: [pay] })
    const run = await engine.run(pay, undefined, { id: 'p' })
    if (by === 'retry') await run.result().catch(() => {})
    else await engine.advance('1h')
    Object.assign(world, { isDown: false, version: 2 })
    if (by === 'retry') await engine.retry('p')
    expect(await run.result()).toMatchObject({ done: true, value: 'paid' })
    expect(world.acts.map(({ facts }) => facts)).toEqual([1, 2])
  })
})

test('an attempt of another worker, hours later, reads the facts again', async () => {
  const store = memory()
  const made: ReturnType<typeof makePay> = makePay({
    facts: () => made.facts(),
    run: (_, __, facts) => (facts === 1 ? new Promise<string>(() => {}) : 'paid') as string,
  })
  const { pay, world } = made
  const humans = [{ ask: /./, answer: { approved: true }, as: 'user:ana' } as const]
  const first = await testEngine({ procedures: [pay], store, humans })
  await first.run(pay, undefined, { id: 'p' })
  await first.advance('1m')
  expect(world.reads).toBe(2)
  await first.stop({ within: '1ms' })
  world.version = 2
  {
    await using without = await testEngine({ procedures: [], store })
    await without.advance('5h')
  }
  await using engine = await testEngine({
    procedures: [pay],
    store,
    humans: [{ ask: /./, answer: 'silence' }],
  })
  const again = await engine.inbox.next()
  expect(sectionsOf(again)).toEqual([['Facts, changed since', { before: 1, now: 2 }]])
  await engine.inbox.answer(again.id, { approved: true }, { as: 'user:bo' })
  expect(await engine.get('p').result()).toMatchObject({ done: true, value: 'paid', by: 'user:bo' })
})

test('a retry judges an action again, and keeps the verdict if it is no stricter', async () => {
  const verdicts: PolicyVerdict[] = ['allow']
  let isDown = true
  const act = (): string => {
    if (isDown) throw new Error('it is down')
    return 'done'
  }
  const both = procedure({ name: 'both', input: z.string() }, async (ctx, how) => {
    if (how === 'step') return ctx.step('act', act, { classes: ['external'], retry: false })
    const gated = await ctx.gate('act', { params: {}, policy: () => 'allow', retry: false, run: act })
    return gated.done ? `${gated.value} by ${gated.by}` : gated.reason
  })
  const policy = () => verdicts[0] as PolicyVerdict
  const humans = [{ ask: /./, answer: { approved: true }, as: 'user:ana' } as const]
  await using engine = await testEngine({ procedures: [both], policy, humans })
  const outcomes: unknown[] = []
  for (const how of ['step', 'gate'])
    for (const next of ['allow', 'human', 'deny'] as const) {
      isDown = true
      verdicts[0] = 'allow'
      const run = await engine.run(both, how, { id: `${how} ${next}` })
      await run.result().catch(() => {})
      isDown = false
      verdicts[0] = next
      await engine.retry(run.id)
      outcomes.push(await run.result().catch((error) => error.cause?.code ?? error.code))
    }
  const refused = 'policy-refused'
  expect(outcomes).toEqual(['done', refused, refused, 'done by policy:gate', 'done by user:ana', 'denied'])
})
