import { agent, decider, type PlanOptions, procedure, type Task } from '@pawl/core'
import { type Person, testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { refusalOf } from './support.ts'

const silentLogger = { debug() {}, info() {}, warn() {}, error() {} }
const silent: Person = { ask: /./, answer: 'silence' }
const yes: Person = { ask: /./, answer: { approved: true }, as: 'user:ana' }

const list = { run: () => ({ count: 3, files: [{ name: 'a.log' }, { name: 'b.log' }], at: new Date(0) }) }

/** A plan that lists files and removes them. */
function makePlan(tasks: readonly Task[], use: PlanOptions['use'], options: Partial<PlanOptions> = {}) {
  const removed: unknown[] = []
  const remove = (params: object) => void removed.push(params)
  const actions = { list, remove: { run: remove, retry: false as const, ...use['remove'] } }
  const plan = procedure({ name: 'plan' }, (ctx) =>
    ctx.plan(tasks as readonly Task<'list' | 'remove'>[], { ...options, use: actions as PlanOptions['use'] }),
  )
  return { plan, removed, remove }
}

const check = { type: 'human', message: 'Delete {count} files?' } as const

describe('params from results', () => {
  test('are shown to the person, fill the message, and reach the action, whatever crashes', async () => {
    for (const replay of ['always', 'on-crash'] as const) {
      const params = {
        count: { $result: 'list.count' },
        first: { $result: 'list.files.0.name' },
        deep: [{ when: { $result: 'list.at' } }],
        kept: new Date(5),
      }
      const { plan, removed } = makePlan(
        [
          { id: 'list', use: 'list' },
          { id: 'remove', use: 'remove', needs: ['list'], params, check },
        ],
        {},
      )
      await using engine = await testEngine({ procedures: [plan], replay })
      await engine.crash('every')
      const run = await engine.run(plan)
      const ask = await engine.inbox.next()
      expect(ask.message).toBe('Delete 3 files?')
      const filled = { count: 3, first: 'a.log', deep: [{ when: new Date(0) }], kept: new Date(5) }
      expect(ask.params).toEqual(filled)
      await engine.inbox.answer(ask.id, { approved: true }, { as: 'user:ana' })
      expect(await run.result()).toMatchObject({ status: 'done' })
      expect(new Set(removed.map((one) => JSON.stringify(one)))).toEqual(new Set([JSON.stringify(filled)]))
    }
  })

  test('fail the task if a result in their place is not an object, before its check asks anyone', async () => {
    const taken = {
      number: { $result: 'list.count' },
      array: { $result: 'list.files' },
      nothing: { $result: 'list.none', or: null },
      object: { $result: 'list.files.0' },
    }
    for (const [what, params] of Object.entries(taken))
      for (const checked of [undefined, check]) {
        const task = {
          id: 'remove',
          use: 'remove',
          needs: ['list'],
          params,
          ...(checked && { check: checked }),
        }
        const { plan, removed } = makePlan([{ id: 'list', use: 'list' }, task], {})
        await using engine = await testEngine({ procedures: [plan], humans: [yes], logger: silentLogger })
        const run = await engine.run(plan)
        const { status, why } = await run.result()
        if (what === 'object') expect([status, removed]).toEqual(['done', [{ name: 'a.log' }]])
        else {
          expect(why).toContain('Its params are taken from results, and are not an object.')
          expect([status, removed]).toEqual(['stopped', []])
          expect((await engine.log(run.id)).execution_log.map(({ name }) => name)).toEqual(['list'])
        }
      }
  })

  test('can be made by the action, before its check shows them', async () => {
    const { plan, removed, remove } = makePlan(
      [
        { id: 'list', use: 'list' },
        { id: 'remove', use: 'remove', needs: ['list'], params: { dry: false } },
      ],
      {
        remove: {
          run: (params: object) => remove(params),
          params: (given: object, { list: found }) => ({ ...given, count: found.count }),
          check: { ...check, schema: z.object({ dry: z.boolean(), count: z.number() }), editable: ['dry'] },
        },
      },
    )
    await using engine = await testEngine({ procedures: [plan] })
    const run = await engine.run(plan)
    const ask = await engine.inbox.next()
    expect(ask.params).toEqual({ dry: false, count: 3 })
    await engine.inbox.answer(ask.id, { approved: true, params: { dry: true } }, { as: 'user:ana' })
    await run.result()
    expect(removed).toEqual([{ dry: true, count: 3 }])
  })

  test('find a task whose id has dots', async () => {
    const { plan, removed } = makePlan(
      [
        { id: 'a', use: 'list' },
        { id: 'a.b', use: 'list' },
        { id: 'remove', use: 'remove', needs: ['a', 'a.b'], params: { x: { $result: 'a.b.count' } } },
      ],
      {},
    )
    await using engine = await testEngine({ procedures: [plan] })
    await (await engine.run(plan)).result()
    expect(removed).toEqual([{ x: 3 }])
  })

  test('are not looked for in what a task returned', async () => {
    const returned = { $result: 'list.count' }
    const removed: unknown[] = []
    const plan = procedure({ name: 'plan' }, (ctx) =>
      ctx.plan(
        [
          { id: 'list', use: 'list' },
          { id: 'remove', use: 'remove', needs: ['list'], params: { of: { $result: 'list.of' } } },
        ],
        {
          use: {
            list: { run: () => ({ of: returned, count: 1 }) },
            remove: { run: (params: object) => void removed.push(params) },
          },
        },
      ),
    )
    await using engine = await testEngine({ procedures: [plan] })
    await (await engine.run(plan)).result()
    expect(removed).toEqual([{ of: returned }])
  })

  test('that are not in the result fail the task, and name it', async () => {
    for (const path of ['list.none', 'list.count.none', 'list.files.7', 'list.constructor']) {
      const { plan, removed } = makePlan(
        [
          { id: 'list', use: 'list' },
          { id: 'remove', use: 'remove', needs: ['list'], params: { x: { $result: path } } },
        ],
        {},
      )
      await using engine = await testEngine({ procedures: [plan] })
      const { status, why } = await (await engine.run(plan)).result()
      expect({ status, why }).toEqual({
        status: 'stopped',
        why: `remove: Its params take '${path}', and there is no such result.`,
      })
      expect(removed).toEqual([])
    }
  })

  test('that are not in the result are what `or` says, which may refer to another', async () => {
    const { plan, removed } = makePlan(
      [
        { id: 'list', use: 'list' },
        {
          ...{ id: 'remove', use: 'remove', needs: ['list'] },
          params: {
            there: { $result: 'list.count', or: 0 },
            gone: { $result: 'list.none', or: null },
            deep: { $result: 'list.none.x', or: [{ $result: 'list.count' }, { $result: 'list.no', or: 1 }] },
          },
        },
      ],
      {},
    )
    await using engine = await testEngine({ procedures: [plan] })
    expect(await (await engine.run(plan)).result()).toMatchObject({ status: 'done' })
    expect(removed).toEqual([{ there: 3, gone: null, deep: [3, 1] }])
  })

  test.each([
    [{ $result: 'other.count' }, '.$result'],
    [{ $result: 'lis' }, '.$result'],
    [{ $result: 7 }, '.$result'],
    [{ $result: 'lits.count', or: 0 }, '.$result'],
    [{ $result: 'later.count', or: 0 }, '.$result'],
    [{ $result: 'list.count', or: { $result: 'lits.count', or: 0 } }, '.or.$result'],
    [{ $result: 'list.count', else: 0 }, '.else'],
  ])('of a task that is not needed are refused with their place: %o', async (x, place) => {
    const { plan } = makePlan(
      [
        { id: 'list', use: 'list' },
        { id: 'remove', use: 'remove', needs: ['list'], params: { deep: [{ x }] } },
        { id: 'later', use: 'list', needs: ['remove'] },
      ],
      {},
    )
    await using engine = await testEngine({ procedures: [plan], logger: silentLogger })
    const run = await engine.run(plan)
    expect((await refusalOf(run.result())).message).toContain(`tasks[1].params.deep[0].x${place}: `)
  })

  test('of a task that a planner skips are refused in its proposal', async () => {
    const edits = [{ op: 'skip', task: 'list', reason: 'known' }] as const
    const planner = agent({ name: 'planner', input: z.any(), output: z.any(), retry: false }, async () => ({
      edits,
      rationale: '',
    }))
    const stops: Person = { ask: /./, answer: { choice: 'stop' }, as: 'user:ana' }
    const { plan } = makePlan(
      [
        { id: 'first', use: 'list' },
        { id: 'list', use: 'list', needs: ['first'] },
        { id: 'remove', use: 'remove', needs: ['list'], params: { x: { $result: 'list.count' } } },
      ],
      {},
      { planner, replan: 'per-layer', may: ['skip'], maxReplans: 1 },
    )
    await using engine = await testEngine({ procedures: [plan], humans: [stops], logger: silentLogger })
    await (await engine.run(plan)).result()
    const { items } = await engine.inbox.list({ status: 'answered' })
    const shown = JSON.stringify(await engine.inbox.get(items[0]?.id ?? ''))
    expect(shown).toContain('must name a task in `needs`')
  })
})

describe('a check by people takes the options of an approval', () => {
  test('which are shown with the question', async () => {
    const options = {
      links: [{ label: 'Preview', url: 'https://example.com/1' }],
      details: [{ title: 'Why', body: 'old' }],
      alternatives: [{ label: 'Move them' }],
      effect: { approve: 'The files are gone' },
      history: 'none',
    } as const
    const { plan } = makePlan(
      [
        { id: 'list', use: 'list' },
        { id: 'remove', use: 'remove', needs: ['list'], check: { ...check, message: 'Delete?', ...options } },
      ],
      {},
    )
    await using engine = await testEngine({ procedures: [plan], humans: [yes] })
    const run = await engine.run(plan)
    await run.result()
    const { items } = await engine.inbox.list({ status: 'answered' })
    const ask = await engine.inbox.get(items[0]?.id ?? '')
    expect(ask).toMatchObject({ links: options.links, alternatives: options.alternatives, history: [] })
    expect(ask?.details[0]).toMatchObject(options.details[0])
    expect(ask?.decisions.map(({ value, effect }) => [value, effect])).toEqual([
      ['approve', 'The files are gone'],
      ['reject', 'The run is cancelled'],
    ])
  })

  test('and silence escalates, where it would have cancelled', async () => {
    const escalates = { timeout: '1h', onTimeout: { escalateTo: 'group:leads' } } as const
    const { plan, removed } = makePlan(
      [{ id: 'remove', use: 'remove', check: { ...check, message: 'Delete?', ...escalates } }],
      {},
    )
    await using engine = await testEngine({ procedures: [plan], humans: [silent] })
    const run = await engine.run(plan)
    const ask = await engine.inbox.next()
    await engine.advance('2h')
    expect(await engine.inbox.get(ask.id)).toMatchObject({ status: 'open' })
    await engine.inbox.answer(ask.id, { approved: true }, { as: 'user:lea' })
    await run.result()
    expect(removed).toHaveLength(1)
  })

  test('and silence fails the task with onTimeout: fail', async () => {
    const { plan, removed } = makePlan(
      [
        {
          ...{ id: 'remove', use: 'remove' },
          check: { ...check, message: 'Delete?', timeout: '1h', onTimeout: 'fail' },
        },
      ],
      {},
    )
    await using engine = await testEngine({ procedures: [plan], humans: [silent] })
    const run = await engine.run(plan)
    expect(await run.result()).toMatchObject({ status: 'stopped' })
    expect(removed).toEqual([])
  })
})

describe('a check by an agent takes the options of a decision', () => {
  const judge = (name: string, confidence: number) =>
    decider(name, async () => ({ choice: 'approve', rationale: 'fine', confidence }))

  test('an unsure agent counts as none, and people are asked whom the check names', async () => {
    const { plan, removed } = makePlan(
      [
        {
          ...{ id: 'remove', use: 'remove' },
          check: {
            ...{ type: 'agent', question: 'Delete?', minConfidence: 0.8, attempts: 1 },
            ...{ fallback: 'human', to: 'group:ops', timeout: '10s' },
          },
        },
      ],
      {},
      { decider: judge('judge', 0.5) },
    )
    await using engine = await testEngine({ procedures: [plan] })
    const run = await engine.run(plan)
    const ask = await engine.inbox.next()
    expect(ask.to).toEqual(['group:ops'])
    expect(ask.details).toMatchObject([
      { title: 'If approved', body: "'remove' runs; then the plan is done." },
      { title: 'If rejected', body: "'remove' fails: the plan stops." },
      { title: 'Plan, layer 1 of 1', body: [{ layer: 1, tasks: 'remove', state: 'now' }] },
      { title: "Assessment of judge (unsure, leaning to 'approve', confidence 0.5)" },
    ])
    await engine.inbox.answer(ask.id, { choice: 'approve' }, { as: 'user:ana' })
    expect(await run.result()).toMatchObject({ status: 'done', approvedBy: { remove: 'user:ana' } })
    expect(removed).toHaveLength(1)
  })

  test.each([
    [{ onError: 'rollback' }, "'remove' fails: the plan stops, and its tasks are undone."],
    [
      { replan: 'on-error', maxReplans: 0 },
      "'remove' fails: the planner is asked, and if it changes nothing, the plan stops.",
    ],
  ] as const)('people who are asked in its place see what a no does: %o', async (options, ifRejected) => {
    const planner = agent({ name: 'planner', input: z.any(), output: z.any() }, async () => ({ edits: [] }))
    const details = [{ title: 'Own', body: 'detail' }]
    const check = {
      type: 'agent',
      question: 'Delete?',
      fallback: 'human',
      minConfidence: 1,
      details,
    } as const
    const given = { ...options, planner, decider: judge('judge', 0.5) }
    const { plan } = makePlan([{ id: 'remove', use: 'remove', check }], {}, given)
    await using engine = await testEngine({ procedures: [plan] })
    await engine.run(plan)
    const ask = await engine.inbox.next()
    expect(ask.details.slice(0, 3)).toMatchObject([
      { title: 'Own' },
      { title: 'If approved' },
      { title: 'If rejected', body: ifRejected },
    ])
  })

  test('people who are asked in the place of a verifying agent see what each answer does', async () => {
    const { plan } = makePlan(
      [
        { id: 'list', use: 'list' },
        { id: 'look', verify: 'Is it fine?', needs: ['list'], fallback: 'human', minConfidence: 1 },
        { id: 'remove', use: 'remove', needs: ['look'] },
      ],
      {},
      { decider: decider('judge', async () => ({ choice: 'ok', rationale: '', confidence: 0.5 })) },
    )
    await using engine = await testEngine({ procedures: [plan] })
    await engine.run(plan)
    expect((await engine.inbox.next()).details.slice(0, 2)).toMatchObject([
      { title: 'If ok', body: 'Layer 3 follows: remove.' },
      { title: 'If failed', body: "The plan stops, and what 'look' looks at is undone." },
    ])
  })

  test('an action brings its own agent', async () => {
    const { plan, remove } = makePlan([{ id: 'remove', use: 'remove' }], {
      remove: {
        run: (params: object) => remove(params),
        check: { type: 'agent', question: 'Delete?', fallback: 'reject', agent: judge('own', 1) },
      },
    })
    await using engine = await testEngine({ procedures: [plan] })
    expect(await (await engine.run(plan)).result()).toMatchObject({ approvedBy: { remove: 'agent:own' } })
  })

  test('a verification, too', async () => {
    const { plan } = makePlan(
      [
        { id: 'remove', use: 'remove' },
        { id: 'gone', verify: 'Gone?', needs: ['remove'], fallback: 'reject', minConfidence: 0.9 },
      ],
      {},
      { decider: decider('judge', async () => ({ choice: 'ok', rationale: 'perhaps', confidence: 0.5 })) },
    )
    await using engine = await testEngine({ procedures: [plan] })
    expect(await (await engine.run(plan)).result()).toMatchObject({ status: 'stopped' })
  })
})

describe('the check of an action', () => {
  const strict = {
    type: 'human',
    message: 'Wire {cents}?',
    to: 'group:finance',
    risk: 'critical',
    schema: z.object({ cents: z.number().max(100) }),
  } as const

  test('counts, whatever check by people a task brings', async () => {
    const own = {
      type: 'human',
      message: 'Click',
      to: 'user:eve',
      risk: 'low',
      editable: ['cents'],
      timeout: '1s',
      onTimeout: 'approve',
    } as const
    const { plan, removed, remove } = makePlan(
      [{ id: 'wire', use: 'remove', params: { cents: 1_000_000 }, check: own }],
      { remove: { run: (params: object) => remove(params), check: strict } },
    )
    await using engine = await testEngine({ procedures: [plan], humans: [silent] })
    await engine.run(plan)
    const ask = await engine.inbox.next()
    expect(ask).toMatchObject({
      message: 'Wire 1000000?',
      to: ['group:finance'],
      risk: { level: 'critical' },
    })
    expect(ask.editable).toEqual([])
    await engine.advance('1h')
    expect(removed).toEqual([])
  })

  test('counts, whatever check by an agent a task brings; people are stricter than agents', async () => {
    const unsure = decider('unsure', async () => ({ choice: 'approve', rationale: '', confidence: 0.1 }))
    const tasks = [
      { id: 'a', use: 'remove', check: { type: 'agent', question: 'Fine?', fallback: 'continue' } },
      { id: 'b', use: 'remove', check: { type: 'human', message: 'Remove b?' } },
    ] as const
    const byAgent = { type: 'agent', question: 'Safe?', fallback: 'reject', minConfidence: 0.9 } as const
    const { plan, removed, remove } = makePlan(
      tasks,
      { remove: { run: (params: object) => remove(params), check: byAgent } },
      { decider: unsure },
    )
    await using engine = await testEngine({ procedures: [plan], humans: [yes] })
    const { why } = await (await engine.run(plan)).result()
    expect(why).toMatch(/^a: /)
    expect(removed).toHaveLength(1)
  })
})

test('a planner takes no people from a check by an agent, and none from a verification', async () => {
  const weaker = { type: 'agent', question: 'Is water wet?', fallback: 'continue' } as const
  const asks = { type: 'agent', question: 'Delete?', fallback: 'human', to: 'group:ops' } as const
  const tasks = [
    { id: 'first', use: 'list' },
    { id: 'remove', use: 'remove', needs: ['first'], check: asks },
    { id: 'gone', verify: 'Gone?', needs: ['remove'], fallback: 'human' },
  ] as const
  for (const proposed of [
    [{ ...tasks[1], check: weaker }, tasks[2]],
    [{ ...tasks[1], id: 'other', check: weaker }],
    [tasks[1], { ...tasks[2], fallback: 'continue' }],
  ] as const) {
    const edits = [{ op: 'replan', tasks: proposed, reason: 'faster' }] as const
    const planner = agent({ name: 'planner', input: z.any(), output: z.any(), retry: false }, async () => ({
      edits,
      rationale: '',
    }))
    const { plan, removed } = makePlan(
      tasks,
      {},
      {
        ...{ planner, replan: 'per-layer', may: ['replan'], maxReplans: 1 },
        decider: decider('sure', async () => ({ choice: 'approve', rationale: '', confidence: 1 })),
      },
    )
    const stops: Person = { ask: /./, answer: { choice: 'stop' }, as: 'user:ana' }
    await using engine = await testEngine({ procedures: [plan], humans: [stops], logger: silentLogger })
    await (await engine.run(plan)).result()
    expect(removed).toEqual([])
  }
})

test('actions that change the results that they are given change them for no other', async () => {
  const taken: unknown[] = []
  const take = { run: ({ first }: { first: string }) => void taken.push(first) }
  const tasks = [
    { id: 'list', use: 'list' },
    { id: 'sort', use: 'sort', needs: ['list'] },
    {
      id: 'take',
      use: 'take',
      needs: ['list', 'sort'],
      params: { first: { $result: 'list.0' } },
      check: { type: 'human', message: 'Take {first}?' },
    },
  ] as const
  const plan = procedure({ name: 'plan' }, (ctx) =>
    ctx.plan(tasks, {
      use: {
        list: { run: () => ['b', 'a'] },
        sort: {
          run: (_, { list: found }) => found.sort(),
          params: (given, { list: found }) => ({ ...given, sorted: found.sort() }),
        },
        take,
      },
    }),
  )
  await using engine = await testEngine({ procedures: [plan] })
  const run = await engine.run(plan)
  const ask = await engine.inbox.next()
  expect(ask.message).toBe('Take b?')
  await engine.inbox.answer(ask.id, { approved: true }, { as: 'user:ana' })
  expect((await run.result()).results).toMatchObject({ list: ['b', 'a'], sort: ['a', 'b'] })
  expect(taken).toEqual(['b'])
})

test('code belongs to the check of an action, not to that of a task', async () => {
  const inTask = [
    { id: 'a', use: 'remove', check: { ...check, schema: {} } },
    {
      ...{ id: 'a', use: 'remove' },
      check: { type: 'agent', question: 'Q?', fallback: 'reject', agent: {} },
    },
  ]
  for (const task of inTask) {
    const { plan } = makePlan([task as unknown as Task], {}, { decider: decider('d', async () => never()) })
    await using engine = await testEngine({ procedures: [plan], logger: silentLogger })
    const run = await engine.run(plan)
    expect((await refusalOf(run.result())).message).toMatch(/tasks\[0\]\.check\.(schema|agent)/)
  }
})

function never(): never {
  throw new Error('never called')
}
