import { type Actions, decider, type PolicyVerdict, procedure, type Task } from '@pawl/core'
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

test('what belongs to the consent to an action cannot be edited, whatever became of the action', async () => {
  const gated = procedure({ name: 'gated' }, (ctx) =>
    ctx.gate('wire', { params: { cents: 100 }, facts: () => 1, run: () => 'wired' }),
  )
  const dropping = procedure({ name: 'dropping' }, (ctx) =>
    ctx.step('drop', () => 'dropped', { classes: ['destructive'] }).catch((error) => error.code),
  )
  const policy = ({ classes }: { classes: readonly string[] }) => (classes.length > 0 ? 'deny' : 'allow')
  const humans = [{ ask: /./, answer: { approved: true }, as: 'user:ana' } as const]
  await using engine = await testEngine({ procedures: [gated, dropping], humans, policy })
  await (await engine.run(gated, undefined, { id: 'g' })).result()
  expect(await (await engine.run(dropping, undefined, { id: 'd' })).result()).toBe('policy-refused')
  const edits = [
    ['g', 0, { verdict: 'allow', by: 'user:ceo' }],
    ['g', 1, 2],
    ['g', 2, { approved: false }],
    ['g', 3, 2],
    ['d', 0, { verdict: 'allow', by: 'user:ceo' }],
  ] as const
  for (const [run, position, value] of edits)
    for (const fork of [engine.fork, engine.previewFork])
      await expect(
        fork(run, { position: position + 1 }, { edit: { [position]: value } }),
      ).rejects.toMatchObject({
        ...{ code: 'option-invalid', message: expect.stringContaining('belongs to the consent to') },
      })
  expect((await engine.list()).items).toHaveLength(2)
})

test('a fork judges anew an action that it repeats, and keeps one that was done or denied', async () => {
  const verdicts: PolicyVerdict[] = []
  const acting = procedure({ name: 'acting' }, async (ctx) => {
    const judged = (name: string) =>
      ctx.step(name, () => name, { classes: ['external'] }).catch((error) => error.code)
    return [await judged('a'), await ctx.step('plain', () => 1), await judged('b')]
  })
  const policy = () => verdicts.shift() ?? 'human'
  await using engine = await testEngine({ procedures: [acting], policy })
  const forkAt = async (run: string, position: number, ...next: PolicyVerdict[]) => {
    verdicts.splice(0, Number.POSITIVE_INFINITY, ...next)
    return (await engine.fork(run, { position })).result()
  }
  verdicts.push('allow', 'allow')
  await (await engine.run(acting, undefined, { id: 'o' })).result()
  expect(await forkAt('o', 1, 'deny', 'deny')).toEqual(['policy-refused', 1, 'policy-refused'])
  expect(await forkAt('o', 2, 'deny')).toEqual(['a', 1, 'policy-refused'])
  expect(await forkAt('o', 4, 'deny')).toEqual(['a', 1, 'policy-refused'])
  for (const verdict of ['deny', 'human'] as const) {
    verdicts.splice(0, Number.POSITIVE_INFINITY, verdict, 'allow')
    await (await engine.run(acting, undefined, { id: verdict })).result()
    expect(await forkAt(verdict, 1, 'allow')).toEqual(['policy-refused', 1, 'b'])
  }
})

test('a fork reads the facts of a gate anew that waits for an answer, and asks once', async () => {
  let version = 1
  const gated = procedure({ name: 'gated' }, (ctx) =>
    ctx.gate('wire', { params: {}, facts: () => version, run: (_, __, facts) => facts }),
  )
  await using engine = await testEngine({ procedures: [gated] })
  await engine.run(gated, undefined, { id: 'g' })
  await engine.inbox.next({ run: 'g' })
  version = 2
  const fork = await engine.fork('g', { position: 2 })
  const { id, details } = await engine.inbox.next({ run: fork.id })
  expect(details).toEqual([{ title: 'Facts', body: 2, as: 'json' }])
  await engine.inbox.answer(id, { approved: true }, { as: 'user:ana' })
  expect(await fork.result()).toMatchObject({ done: true, value: 2 })
})
