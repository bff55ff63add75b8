import { decider, procedure } from '@pawl/core'
import { testEngine } from '@pawl/testing'
import { expect, test } from 'vitest'

const unsure = decider('unsure', async () => ({ choice: 'go', rationale: 'hard to say', confidence: 0.2 }))

const ship = procedure({ name: 'ship' }, async (ctx) => {
  const { choice } = await ctx.agent.decide('Ship it?', ['go', 'stop'], {
    agent: unsure,
    minConfidence: 0.8,
    fallback: { ask: { to: 'group:ops', details: [{ title: 'Build', body: 'green' }] } },
  })
  return choice
})

test('people who decide see the options of the decision, unless others are given for them', async () => {
  const both = procedure({ name: 'both' }, async (ctx) => {
    const { choice } = await ctx.agent.decide('Ship it?', ['go', 'stop'], {
      ...{ agent: unsure, minConfidence: 0.8, key: 'k', history: 'none' },
      details: [{ title: 'For both', body: '1' }],
      fallback: {
        ask: { key: undefined, history: undefined, details: [{ title: 'For people', body: '2' }] },
      } as never,
    })
    return choice
  })
  await using engine = await testEngine({ procedures: [both] })
  const run = await engine.run(both)
  const ask = await engine.inbox.next({ run: run.id })
  expect(ask).toMatchObject({ key: 'k', history: [] })
  expect(ask.details.map(({ title }) => title)).toEqual([
    'For both',
    'For people',
    "Assessment of unsure (unsure, leaning to 'go', confidence 0.2)",
  ])
})

test('people who decide in place of an agent see its verdict', async () => {
  await using engine = await testEngine({ procedures: [ship] })
  const run = await engine.run(ship)
  const ask = await engine.inbox.next({ run: run.id })
  expect(ask.details).toEqual([
    { title: 'Build', body: 'green' },
    { title: "Assessment of unsure (unsure, leaning to 'go', confidence 0.2)", body: 'hard to say' },
  ])
  await engine.inbox.answer(ask.id, { choice: 'go' }, { as: 'user:ana' })
  expect(await run.result()).toBe('go')
})

test('an agent whose verdict is none of the choices has no preference', async () => {
  await using engine = await testEngine({
    procedures: [ship],
    agents: { unsure: { choice: 'fly', rationale: 'why not', confidence: 0.2 } },
    humans: [{ ask: 'Ship it?', answer: { choice: 'stop' } }],
  })
  const run = await engine.run(ship)
  expect(await run.result()).toBe('stop')
  const [entry] = (await engine.log(run.id)).execution_log
  expect(entry?.result).toMatchObject({ why: 'invalid', judged: { rationale: expect.any(String) } })
  expect(entry?.result).not.toHaveProperty('judged.choice')
})
