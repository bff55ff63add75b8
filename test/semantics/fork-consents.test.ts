import { type Actions, decider, procedure, type Task } from '@pawl/core'
import { testEngine } from '@pawl/testing'
import fc from 'fast-check'
import { expect, test } from 'vitest'

const ids = ['a', 'b', 'c', 'd'] as const

/** Tasks of a plan, each with its check, and how often the plan runs. */
const plans = fc.record({
  tasks: fc.array(
    fc.record({
      check: fc.constantFrom('none', 'human', 'human', 'agent'),
      needs: fc.uniqueArray(fc.constantFrom(...ids), { maxLength: 2 }),
    }),
    { minLength: 1, maxLength: ids.length },
  ),
  times: fc.constantFrom('once', 'twice', 'twice at once'),
})
type PlanCase = typeof plans extends fc.Arbitrary<infer P> ? P : never

/** What one run has asked, and which of its checked actions had an effect, in any order. */
interface Noted {
  readonly asked: string[]
  readonly acted: string[]
}

function makePlanned({ tasks, times }: PlanCase, noted: Noted) {
  const judge = decider('judge', async ({ question }) => {
    noted.asked.push(question)
    return { choice: 'approve', rationale: 'fine', confidence: 1 }
  })
  const isChecked = (id: string): boolean => tasks[ids.indexOf(id as 'a')]?.check !== 'none'
  const act = ({ id }: { id: string }): void => void (isChecked(id) && noted.acted.push(id))
  const use = {
    none: { run: act },
    human: { run: act, check: { type: 'human', message: '{id}' } },
    agent: { run: act },
  } as const satisfies Actions
  const given = tasks.map(({ check, needs }, i): Task<keyof typeof use> => {
    const id = ids[i] as string
    return {
      ...{ id, use: check as keyof typeof use, params: { id } },
      needs: needs.filter((need) => ids.indexOf(need) < i),
      ...(check === 'agent' ? { check: { type: 'agent', question: id, fallback: 'reject' } as const } : {}),
    }
  })
  return procedure({ name: 'planned' }, async (ctx) => {
    const pass = () => ctx.plan(given, { use, decider: judge })
    if (times === 'twice at once') return void (await Promise.all([pass(), pass()]))
    await pass()
    if (times === 'twice') await pass()
  })
}

test('wherever a run of plans is forked, each checked action of the fork has a yes of its own', async () => {
  const seen = { again: 0, kept: 0 }
  await fc.assert(
    fc.asyncProperty(plans, async (plan) => {
      const noted: Noted = { asked: [], acted: [] }
      const answer = ({ params }: { params: unknown }) => {
        noted.asked.push((params as { id: string }).id)
        return { approved: true } as never
      }
      const planned = makePlanned(plan, noted)
      await using engine = await testEngine({ procedures: [planned], humans: [{ ask: /./, answer }] })
      await (await engine.run(planned, undefined, { id: 'p' })).result()
      const total = noted.asked.length
      for (const { position } of (await engine.log('p')).execution_log) {
        for (const list of [noted.asked, noted.acted]) list.length = 0
        await (await engine.fork('p', { position })).result()
        expect(noted.acted.toSorted()).toEqual(noted.asked.toSorted())
        seen.again += noted.asked.length
        seen.kept += total - noted.asked.length
      }
    }),
    { numRuns: 8 },
  )
  expect(Math.min(seen.again, seen.kept)).toBeGreaterThan(0)
})

test('a fork behind a plain approval keeps its yes, and one before it asks again', async () => {
  const plain = procedure({ name: 'plain' }, async (ctx) => {
    await ctx.step('before', () => 1)
    const { approved, by } = await ctx.human.approve('Go on?', { key: 'go' })
    return ctx.step('after', () => `${approved} ${by}`)
  })
  const asked: string[] = []
  await using engine = await testEngine({
    procedures: [plain],
    humans: [{ ask: ({ run }) => asked.push(run) > 0, answer: { approved: true }, as: 'user:ana' }],
  })
  await (await engine.run(plain, undefined, { id: 'o' })).result()
  for (const position of [0, 1, 2]) {
    const fork = await engine.fork('o', { position }, { id: `f${position}` })
    expect(await fork.result()).toBe('true user:ana')
  }
  expect(new Set(asked)).toEqual(new Set(['o', 'f0', 'f1']))
})
