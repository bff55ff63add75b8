import {
  type Ask,
  agent,
  decider,
  type PlanOptions,
  type PlanView,
  type Proposal,
  procedure,
  type Task,
} from '@pawl/core'
import { memory, type Person, testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { refusalOf } from './support.ts'

const yes: Person = { ask: /./, answer: { approved: true }, as: 'user:ana' }
const no: Person = { ask: /./, answer: { approved: false }, as: 'user:ana' }
const silentLogger = { debug() {}, info() {}, warn() {}, error() {} }

/** A site that notes what is done to it, with the key of each effect. */
function makeSite(failing: readonly string[] = []) {
  const done: string[] = []
  const keys = new Map<string, Set<string>>()
  const act =
    (name: string) =>
    (params: object, _: object, { idempotencyKey }: { idempotencyKey: string }) => {
      const known = keys.get(name) ?? new Set()
      keys.set(name, known.add(idempotencyKey))
      if (failing.includes(name)) throw Object.assign(new Error(`${name} is down`), { code: 'DOWN' })
      done.push(name)
      return { name, ...params }
    }
  const action = (name: string) => ({
    run: act(name),
    undo: () => void done.push(`undo ${name}`),
    retry: false as const,
  })
  const check = {
    type: 'human',
    message: 'Publish "{title}"?',
    risk: 'high',
    editable: ['title'],
    to: 'group:editors',
  } as const
  const use = {
    fetch: action('fetch'),
    render: action('render'),
    tweet: action('tweet'),
    rss: action('rss'),
    cms: { ...action('cms'), check },
  }
  return { done, keys, use, check }
}

const post: readonly Task<'fetch' | 'render' | 'cms' | 'rss' | 'tweet'>[] = [
  { id: 'draft', use: 'fetch' },
  { id: 'html', use: 'render', needs: ['draft'] },
  { id: 'publish', use: 'cms', needs: ['html'], params: { title: 'Tides' } },
  { id: 'feed', use: 'rss', needs: ['publish'] },
  { id: 'tweet', use: 'tweet', needs: ['publish'] },
  { id: 'live', verify: 'Is it live?', needs: ['publish', 'feed', 'tweet'], fallback: 'reject' },
  { id: 'announce', use: 'rss', needs: ['live'] },
]

const judge = (choice: string) =>
  decider('judge', async () => ({ choice, rationale: 'I looked', confidence: 1 }))
type Site = ReturnType<typeof makeSite>
type Options = Partial<PlanOptions<Site['use']>>

function makePlan(site: Site, options: Options = {}, tasks: readonly Task[] = post) {
  return procedure({ name: 'publish' }, (ctx) =>
    ctx.plan(tasks as typeof post, { use: site.use, decider: judge('ok'), ...options }),
  )
}

const planned = z.object({ edits: z.array(z.any()), rationale: z.string() })
/** Proposes one thing after the other. */
function makePlanner(...proposals: readonly Proposal['edits'][]) {
  const views: PlanView[] = []
  const planner = agent(
    { name: 'planner', input: z.any(), output: planned, retry: false },
    async (view: PlanView) => {
      views.push(view)
      return { edits: [...(proposals[views.length - 1] ?? [])], rationale: 'better' }
    },
  )
  return { planner, views }
}

async function namesOf(engine: Awaited<ReturnType<typeof testEngine>>, run: string): Promise<string[]> {
  return (await engine.log(run)).execution_log.map(({ type, name, status }) => `${type} ${name} ${status}`)
}

describe('layers', () => {
  test('tasks run in layers, checks before them and verifications after, whatever crashes', async () => {
    for (const replay of ['always', 'on-crash'] as const) {
      const site = makeSite()
      const publish = makePlan(site)
      const edits: Person = { ...yes, answer: { approved: true, params: { title: 'High tides' } } }
      await using engine = await testEngine({ procedures: [publish], humans: [edits], replay })
      await engine.crash('every')
      const run = await engine.run(publish)
      expect(await run.result()).toMatchObject({
        ...{ status: 'done', skipped: [], undone: [], approvedBy: { publish: 'user:ana' } },
        results: { publish: { title: 'High tides' }, live: 'I looked' },
      })
      expect(await namesOf(engine, run.id)).toEqual([
        'step draft done',
        'step html done',
        'hitl_approval publish · approve done',
        'step publish done',
        'step feed done',
        'step tweet done',
        'ail_decision live · verify done',
        'step announce done',
      ])
      expect([...site.keys].map(([name, keys]) => [name, keys.size])).toEqual([
        ['fetch', 1],
        ['render', 1],
        ['cms', 1],
        ['rss', 2],
        ['tweet', 1],
      ])
      expect(site.done).toHaveLength(6)
    }
  })

  test('no task of a layer begins before the one before has ended', async () => {
    const order: string[] = []
    const run = async ({ name, waits }: { name: string; waits?: boolean }) => {
      if (waits === true) await new Promise((resolve) => setImmediate(resolve))
      order.push(name)
    }
    const layers = procedure({ name: 'layers' }, (ctx) =>
      ctx.plan(
        [
          { id: 'a', use: 'note', params: { name: 'a', waits: true } },
          { id: 'b', use: 'note', params: { name: 'b' } },
          { id: 'c', use: 'note', params: { name: 'c' }, needs: ['b'] },
        ],
        { use: { note: { run } } },
      ),
    )
    await using engine = await testEngine({ procedures: [layers] })
    await (await engine.run(layers)).result()
    expect(order).toEqual(['b', 'a', 'c'])
  })

  test('a person sees the layers, the results before, and what follows each answer', async () => {
    const site = makeSite()
    const publish = makePlan(site)
    const seen: Ask[] = []
    await using engine = await testEngine({
      procedures: [publish],
      humans: [{ ...yes, ask: (ask) => seen.push(ask) > 0 }],
    })
    await (await engine.run(publish)).result()
    expect(seen[0]).toMatchObject({
      ...{ message: 'Publish "Tides"?', key: 'publish', to: ['group:editors'], risk: { level: 'high' } },
      history: [{ step: 'html' }],
      details: [
        { title: 'If approved', body: "'publish' runs; then layer 4 follows: feed, tweet." },
        { title: 'If rejected', body: 'The run is cancelled, and its completed steps are undone.' },
        {
          title: 'Plan, layer 3 of 6',
          body: [
            { layer: 1, tasks: 'draft', state: 'done' },
            { layer: 2, tasks: 'html', state: 'done' },
            { layer: 3, tasks: 'publish', state: 'now' },
            { layer: 4, tasks: 'feed, tweet', state: 'later' },
            { layer: 5, tasks: 'live', state: 'later' },
            { layer: 6, tasks: 'announce', state: 'later' },
          ],
        },
      ],
    })
  })
})

describe('the overview that a run exposes', () => {
  /** Each task with its state, layer by layer. */
  async function overviewOf(engine: Awaited<ReturnType<typeof testEngine>>, run: string, name = 'pawl.plan') {
    const { status, layers } = (await engine.get(run).state(name)) as {
      status: string
      layers: { id: string; state: string }[][]
    }
    return {
      status,
      layers: layers.map((layer) => layer.map(({ id, state }) => `${id} ${state}`).join(', ')),
    }
  }

  test('says which layer is under way, with the checks and what each task needs', async () => {
    const site = makeSite()
    const publish = makePlan(site)
    await using engine = await testEngine({ procedures: [publish], humans: [{ ...yes, answer: 'silence' }] })
    const { id } = await engine.run(publish)
    await engine.inbox.next()
    expect(await overviewOf(engine, id)).toEqual({
      status: 'running',
      layers: [
        'draft done',
        'html done',
        'publish now',
        'feed later, tweet later',
        'live later',
        'announce later',
      ],
    })
    const publishing = { id: 'publish', use: 'cms', needs: ['html'], check: 'human', state: 'now' }
    expect(await engine.get(id).state('pawl.plan')).toMatchObject({
      ...{ tasks: 7, ended: 2 },
      layers: [{}, {}, [publishing], {}, {}, {}],
    })
  })

  test('says that the plan was cancelled with its run, whatever crashes', async () => {
    const publish = makePlan(makeSite())
    await using engine = await testEngine({ procedures: [publish], humans: [{ ...yes, answer: 'silence' }] })
    await engine.crash('every')
    const run = await engine.run(publish)
    await engine.inbox.next()
    await run.cancel()
    await refusalOf(run.result())
    expect(await overviewOf(engine, run.id)).toEqual({
      status: 'cancelled',
      layers: [
        ...['draft done', 'html done', 'publish later'],
        ...['feed later, tweet later', 'live later', 'announce later'],
      ],
    })
  })

  test.each([
    ['a rejected check', 'cancelled', { type: 'human', message: 'Go?' }, {}],
    [
      'params that cannot be made',
      'failed',
      undefined,
      {
        params: () => {
          throw new Error('none')
        },
      },
    ],
  ] as const)('says how the plan ended by %s', async (_, status, check, more) => {
    const tasks = [{ id: 'go', use: 'go', ...(check && { check }) }] as const
    const use = { go: { run: () => 1, ...more } }
    const going = procedure({ name: 'going' }, async (ctx) => void (await ctx.plan(tasks, { use })))
    await using engine = await testEngine({ procedures: [going], humans: [no], logger: silentLogger })
    const run = await engine.run(going)
    await refusalOf(run.result())
    expect(await overviewOf(engine, run.id)).toEqual({ status, layers: ['go later'] })
  })

  test('says what was undone, skipped, added, and which task failed', async () => {
    const site = makeSite(['tweet'])
    const { planner } = makePlanner([
      { op: 'replan', tasks: [{ id: 'instead', use: 'rss', needs: ['draft'] }], reason: 'because' },
    ])
    const tasks: readonly Task[] = [
      { id: 'draft', use: 'fetch' },
      { id: 'tweet', use: 'tweet', needs: ['draft'] },
      { id: 'later', use: 'rss', needs: ['tweet'] },
    ]
    const { use } = site
    const both = procedure({ name: 'both' }, async (ctx) => {
      await ctx.plan(tasks as typeof post, { use, planner, may: ['replan'], replan: 'on-error' })
      const live = {
        id: 'live',
        verify: 'Is it live?',
        needs: ['publish', 'feed'],
        fallback: 'reject',
      } as const
      await ctx.plan([...post.slice(0, 4), live], { use, decider: judge('failed') })
    })
    await using engine = await testEngine({ procedures: [both], humans: [yes] })
    const run = await engine.run(both)
    await run.result()
    expect(await overviewOf(engine, run.id)).toEqual({
      status: 'done',
      layers: ['draft done', 'tweet failed', 'later skipped, instead done'],
    })
    const { layers } = (await engine.get(run.id).state('pawl.plan')) as {
      readonly layers: readonly (readonly { readonly id: string; readonly isAdded?: true }[])[]
    }
    expect(layers.flat().filter(({ isAdded }) => isAdded)).toMatchObject([{ id: 'instead' }])
    expect(await overviewOf(engine, run.id, 'pawl.plan.2')).toEqual({
      status: 'rolled-back',
      layers: ['draft done', 'html done', 'publish undone', 'feed undone', 'live failed'],
    })
  })
})

describe('no, and failures', () => {
  test('a rejected check cancels the run, and what is done is undone', async () => {
    const site = makeSite()
    const publish = makePlan(site)
    await using engine = await testEngine({ procedures: [publish], humans: [no] })
    await engine.crash('every')
    const error = await refusalOf((await engine.run(publish)).result())
    expect(error.code).toBe('run-cancelled')
    expect(site.done).toEqual(['fetch', 'render', 'undo render', 'undo fetch'])
  })

  test("with onReject: 'skip' the task and everything behind it is skipped", async () => {
    const site = makeSite()
    const use = { ...site.use, cms: { ...site.use.cms, check: { ...site.check, onReject: 'skip' as const } } }
    const publish = makePlan({ ...site, use })
    await using engine = await testEngine({ procedures: [publish], humans: [no] })
    expect(await (await engine.run(publish)).result()).toMatchObject({
      status: 'done',
      skipped: ['publish', 'feed', 'tweet', 'live', 'announce'],
    })
    expect(site.done).toEqual(['fetch', 'render'])
  })

  test('a failed verification undoes what it looked at, newest first, and tells the alert', async () => {
    const site = makeSite()
    const publish = makePlan(site, { decider: judge('failed'), alert: 'group:ops' })
    await using engine = await testEngine({ procedures: [publish], humans: [yes] })
    await engine.crash('every')
    const run = await engine.run(publish)
    expect(await run.result()).toMatchObject({ status: 'rolled-back', why: 'live: I looked' })
    const undos = site.done.slice(5)
    expect(new Set(undos)).toEqual(new Set(['undo rss', 'undo tweet', 'undo cms']))
    expect(undos.at(-1)).toBe('undo cms')
    expect((await namesOf(engine, run.id)).at(-1)).toBe('hitl_notification notify done')
    expect((await engine.log(run.id)).execution_log.at(-1)).toMatchObject({
      result: { to: ['group:ops'], severity: 'error' },
    })
    const { items } = await engine.inbox.notices()
    expect(items).toMatchObject([{ details: [{ title: 'Reason', body: 'I looked' }, { title: 'Undone' }] }])
  })

  test('the alert of a failed action names the cause, without advice to developers', async () => {
    const site = makeSite(['fetch'])
    const publish = makePlan(site, { alert: 'group:ops' })
    await using engine = await testEngine({ procedures: [publish] })
    const run = await engine.run(publish)
    const why = "Step 'draft' failed after 1 attempt: Error: fetch is down. The failure is recorded."
    expect(await run.result()).toMatchObject({ status: 'stopped', why: `draft: ${why}` })
    const { items } = await engine.inbox.notices()
    expect(items).toMatchObject([{ details: [{ title: 'Reason', body: why }, { title: 'Undone' }] }])
  })

  test('a failed action undoes nothing by itself, and the whole plan with onError', async () => {
    for (const [onError, undone] of [
      ['stop', []],
      ['rollback', ['undo cms', 'undo render', 'undo fetch']],
    ] as const) {
      const site = makeSite(['tweet'])
      const publish = makePlan(
        site,
        { onError },
        post.filter(({ id }) => id !== 'feed' && id !== 'live' && id !== 'announce'),
      )
      await using engine = await testEngine({ procedures: [publish], humans: [yes] })
      expect(await (await engine.run(publish)).result()).toMatchObject({
        status: onError === 'stop' ? 'stopped' : 'rolled-back',
        why: expect.stringContaining('tweet is down'),
      })
      expect(site.done.slice(3)).toEqual(undone)
    }
  })

  test('a failed undo is told, and the next one runs', async () => {
    const site = makeSite()
    const broken = {
      ...site.use.rss,
      undo: () => {
        throw new Error('stuck')
      },
      retry: false as const,
    }
    const publish = makePlan(
      { ...site, use: { ...site.use, rss: broken } },
      { decider: judge('failed'), alert: 'group:ops' },
    )
    await using engine = await testEngine({ procedures: [publish], humans: [yes] })
    const run = await engine.run(publish)
    expect(await run.result()).toMatchObject({
      status: 'rollback-failed',
      undone: expect.arrayContaining(['publish', 'tweet']),
      failed: ['feed'],
    })
    expect((await engine.log(run.id)).execution_log.at(-1)?.result).toMatchObject({
      details: [{}, {}, { title: 'Undos that failed', body: 'feed' }],
    })
  })

  test('what one plan undoes is not undone again, nor what belongs to another', async () => {
    const site = makeSite()
    const twice = procedure({ name: 'twice' }, async (ctx) => {
      await ctx.step('before', () => {}, { undo: () => void site.done.push('undo before') })
      const tasks = [
        { id: 'a', use: 'fetch' },
        { id: 'v', verify: 'Fine?', needs: ['a'], fallback: 'reject' },
      ] as const
      await ctx.plan([{ id: 'a', use: 'render' }], { use: site.use })
      await ctx.plan(tasks, { use: site.use, decider: judge('failed') })
      await ctx.rollback('at the end')
    })
    await using engine = await testEngine({ procedures: [twice] })
    await (await engine.run(twice)).result()
    expect(site.done).toEqual(['render', 'fetch', 'undo fetch', 'undo render', 'undo before'])
  })
})

describe('checks by agents', () => {
  const judged: readonly Task[] = [
    { id: 'a', use: 'fetch', check: { type: 'agent', question: 'Fine?', fallback: 'human' } },
  ]

  test.each([
    ['approve', 'done', ['fetch']],
    ['reject', 'stopped', []],
    ['what?', 'done', ['fetch']],
  ] as const)('of which one says %s: %s', async (choice, status, done) => {
    const site = makeSite()
    const publish = makePlan(site, { decider: judge(choice) }, judged)
    await using engine = await testEngine({
      procedures: [publish],
      logger: silentLogger,
      humans: [{ ask: 'Fine?', answer: { choice: 'approve' } }],
    })
    expect(await (await engine.run(publish)).result()).toMatchObject({ status })
    expect(site.done).toEqual(done)
  })
})

describe('a planner', () => {
  const may = ['add', 'skip', 'modify', 'replan'] as const
  const reason = 'because'

  test('adds, skips and modifies tasks after a layer, and a replay makes the same plan', async () => {
    const site = makeSite()
    const { planner, views } = makePlanner(
      [
        { op: 'skip', task: 'tweet', reason },
        { op: 'modify', task: 'publish', params: { title: 'Ebb' }, reason },
      ],
      [{ op: 'add', task: { id: 'more', use: 'rss', needs: ['publish'] }, reason }],
    )
    const publish = makePlan(site, { planner, may, replan: 'per-layer', maxReplans: 20 })
    await using engine = await testEngine({ procedures: [publish], humans: [yes], replay: 'always' })
    await engine.crash('every')
    const result = await (await engine.run(publish)).result()
    expect(result).toMatchObject({
      status: 'done',
      skipped: ['tweet'],
      results: { publish: { title: 'Ebb' }, more: { name: 'rss' } },
    })
    expect(result.edits).toHaveLength(3)
    expect(site.done).toEqual(['fetch', 'render', 'cms', 'rss', 'rss', 'rss'])
    expect(views[0]).toMatchObject({ why: 'layer 1 has ended', results: { draft: { name: 'fetch' } } })
    // Also after the changes, layers are counted from the start.
    expect(views.map(({ why }) => why)).toEqual([1, 2, 3, 4, 5].map((n) => `layer ${n} has ended`))
  })

  test('repairs a failed task', async () => {
    const site = makeSite(['tweet'])
    const { planner, views } = makePlanner([
      { op: 'replan', tasks: [{ id: 'feed instead', use: 'rss', needs: ['publish'] }], reason },
    ])
    const tasks = post.filter(({ id }) => id !== 'live' && id !== 'announce' && id !== 'feed')
    const publish = makePlan(site, { planner, may, replan: 'on-error' }, [
      ...tasks,
      { id: 'feed', use: 'rss', needs: ['tweet'] },
    ])
    await using engine = await testEngine({ procedures: [publish], humans: [yes] })
    expect(await (await engine.run(publish)).result()).toMatchObject({ status: 'done' })
    expect(site.done).toEqual(['fetch', 'render', 'cms', 'rss'])
    expect(views.map(({ why }) => why)).toEqual([expect.stringContaining("'tweet' failed")])
  })

  test.each([
    ['continue', 'done'],
    ['stop', 'stopped'],
  ] as const)('that proposes what it may not is recorded, and people say %s', async (choice, status) => {
    const site = makeSite()
    const { planner } = makePlanner([{ op: 'skip', task: 'publish', reason }])
    const publish = makePlan(site, { planner, may, replan: 'per-layer', maxReplans: 10, alert: 'group:ops' })
    const seen: Ask[] = []
    const person: Person = { ask: (ask) => ask.kind === 'select' && seen.push(ask) > 0, answer: { choice } }
    await using engine = await testEngine({ procedures: [publish], humans: [person, yes] })
    expect(await (await engine.run(publish)).result()).toMatchObject({ status, edits: [] })
    expect(seen).toHaveLength(1)
    expect(seen[0]).toMatchObject({
      to: ['group:ops'],
      details: [{ body: expect.stringContaining('checked by people') }, {}],
    })
  })

  test('is asked maxReplans times; then people are asked once', async () => {
    const site = makeSite()
    const { planner, views } = makePlanner()
    const publish = makePlan(site, { planner, may, replan: 'per-layer', maxReplans: 2 })
    let asked = 0
    const person: Person = {
      ask: ({ kind }) => kind === 'select' && ++asked > 0,
      answer: { choice: 'continue' },
    }
    await using engine = await testEngine({ procedures: [publish], humans: [person, yes] })
    expect(await (await engine.run(publish)).result()).toMatchObject({ status: 'done' })
    expect([views.length, asked]).toEqual([2, 1])
  })

  test('that fails is not ignored: people are asked', async () => {
    const site = makeSite()
    const planner = agent({ name: 'planner', input: z.any(), output: planned, retry: false }, async () => {
      throw new Error('no model')
    })
    const publish = makePlan(site, { planner, may, replan: 'per-layer' })
    await using engine = await testEngine({
      procedures: [publish],
      humans: [{ ask: 'planner failed', answer: { choice: 'stop' } }],
    })
    expect(await (await engine.run(publish)).result()).toMatchObject({
      status: 'stopped',
      why: 'people stopped the plan',
    })
  })
})

describe('plans are plain data', () => {
  test.each<readonly [string, unknown, readonly string[]]>([
    ['no array', {}, ['tasks: must be an array']],
    [
      'a missing task',
      [{ id: 'a', use: 'fetch', needs: ['b'] }],
      ["tasks[0].needs[0]: there is no task 'b'"],
    ],
    [
      'one id twice',
      [
        { id: 'a', use: 'fetch' },
        { id: 'a', use: 'fetch' },
      ],
      ["tasks[0].id: another task is called 'a'"],
    ],
    [
      'a cycle',
      [
        { id: 'a', use: 'fetch', needs: ['b'] },
        { id: 'b', use: 'fetch', needs: ['a'] },
      ],
      ['tasks: need each other in a cycle: a, b'],
    ],
    [
      'an unknown action',
      [{ id: 'a', use: 'rm' }],
      ['tasks[0].use: must be one of fetch, render, tweet, rss, cms'],
    ],
    [
      'a wrong check',
      [{ id: 'a', use: 'fetch', check: { type: 'human', to: 'ana' } }],
      ['tasks[0].check.message: must be a text', 'tasks[0].check.to: must be'],
    ],
    ['a typo', [{ id: 'a', use: 'fetch', need: [] }], ['tasks[0].need: is not one of id, use']],
    [
      'a verification of nothing',
      [{ id: 'a', verify: 'Fine?', needs: [], fallback: 'maybe' }],
      ['tasks[0].needs: must name what is verified', "tasks[0].fallback: must be 'reject'"],
    ],
  ])('%s is refused with its path', async (_, tasks, paths) => {
    const site = makeSite()
    const wrong = makePlan(site, {}, JSON.parse(JSON.stringify(tasks)) as readonly Task[])
    await using engine = await testEngine({ procedures: [wrong], logger: silentLogger })
    const { message } = await refusalOf((await engine.run(wrong)).result())
    for (const path of paths) expect(message).toContain(path)
    expect(site.done).toEqual([])
  })

  test('a plan whose tasks have changed in the code no longer matches its log, and its task is named', async () => {
    const site = makeSite()
    const store = memory()
    const first = await testEngine({
      procedures: [makePlan(site)],
      store,
      humans: [{ ...yes, answer: 'silence' }],
    })
    const { id } = await first.run(makePlan(site))
    await first.inbox.next()
    await first.stop()
    const other = makePlan(
      site,
      {},
      post.map(
        (task) =>
          (task.id === 'html'
            ? { ...task, id: 'page' }
            : task.needs?.includes('html') === true
              ? { ...task, needs: ['page'] }
              : task) as Task,
      ),
    )
    await using engine = await testEngine({ procedures: [other], store, humans: [yes], logger: silentLogger })
    const error = await refusalOf(engine.get(id).result())
    expect(error).toMatchObject({
      code: 'nondeterminism',
      details: { recorded: expect.stringContaining('html'), asked: expect.stringContaining('page') },
    })
  })
})
