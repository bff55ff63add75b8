import { join } from 'node:path'
import { channels } from '@pawl/channels'
import {
  type Ask,
  agent,
  type Ctx,
  createClient,
  createEngine,
  type Engine,
  type EngineOptions,
  PawlError,
  type PluginHost,
  procedure,
} from '@pawl/core'
import { formatDuration, readEngineOptions, readStopOptions } from '@pawl/core/internal'
import { createServer } from '@pawl/server'
import { postgres } from '@pawl/storage-postgres'
import { sqlite } from '@pawl/storage-sqlite'
import {
  checkDeterminism,
  explore,
  memory,
  type TestEngine,
  type TestEngineOptions,
  testEngine,
} from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type Member, readDeclarations } from '../../scripts/reference/declarations.ts'
import { createFinder } from '../../scripts/reference/find.ts'
import { pages } from '../../scripts/reference/pages.ts'
import { optionsOf } from '../../scripts/reference/render.ts'
import { root } from './support/pages.ts'

// The pages of the reference repeat what the docstrings say (`npm run check -- reference`); here it is compared with what
// the calls do.
const find = createFinder(root)
const sections = new Map(
  pages.flatMap(({ file, sections }) => sections.map((section) => [`${file} ${section.heading}`, section])),
)

/** The options in the first table of a section. */
function membersOf(heading: string): readonly Member[] {
  const table = sections.get(heading)?.tables?.[0]
  if (table === undefined) throw new Error(`the reference has no table ${heading}`)
  return optionsOf(table, find)
}

function memberOf(heading: string, option: string): Member {
  const member = membersOf(heading).find(({ name }) => name === option)
  if (member === undefined) throw new Error(`${heading} has no option ${option}`)
  return member
}

function defaultOf(heading: string, option: string): string {
  return memberOf(heading, option).doc.default
}

/** A duration as the docstrings write it. */
function spanOf(ms: number): string {
  return `'${formatDuration(ms)}'`
}

/** Returns the words in quotes. */
function wordsIn(text: string): string[] {
  return [...text.matchAll(/'([^']+)'/g)].map(([, word = '']) => word)
}

const idle = procedure({ name: 'idle' }, async () => 'done')
const writer = agent({ name: 'writer', input: z.string(), output: z.string() }, async (topic) => topic)
const critic = agent({ name: 'critic', input: z.unknown(), output: z.unknown() }, async () => ({}))

/** What no call knows; no type tells. */
const nonsense: object = { nonsense: 1 }

/** Starts an engine with a plug-in that makes a call. */
async function hosting(use: (host: PluginHost) => void | Promise<void>): Promise<void> {
  const plugin = { name: 'calling', start: (_client: unknown, host: PluginHost) => use(host) }
  const engine = await createEngine({ store: memory(), procedures: [], plugins: [plugin] })
  await engine.stop()
}

// ── how a call refuses what it is given

type Asking = Ctx<{ signals: { go: string } }>
type Call = (engine: Engine) => unknown

/** The message with which a call, or an operation of a run, refuses what it was given. */
async function refusalOf(call: Call): Promise<string> {
  await using engine = await testEngine({ procedures: [idle], decider: critic as never })
  try {
    await call(engine)
  } catch (error) {
    if (PawlError.is(error, 'procedure-broken')) return error.details.cause.message
    if (PawlError.is(error)) return error.message
    throw error
  }
  throw new Error('it was not refused')
}

/** A run that asks for this. */
function within(ask: (ctx: Asking) => Promise<unknown>): Call {
  const asking = procedure({ name: 'asking', signals: { go: z.string() } }, ask)
  return async () => {
    await using engine = await testEngine({ procedures: [asking], decider: critic as never })
    const run = await engine.run(asking)
    await run.result()
  }
}

/** A question with these options. */
function asked(options: object): Call {
  return within((ctx) => ctx.human.select('Which?', ['a', 'b'], options))
}

// ── the options that there are

interface Known {
  readonly call: Call
  /** Whose table says the others. */
  readonly others?: readonly string[]
  /** Which of those it has not. */
  readonly without?: string
  /** Options that the note of the section names. */
  readonly noted?: readonly string[]
}

const known: { readonly [heading: string]: Known } = {
  'engine.md createEngine': { call: () => createEngine({ store: memory(), procedures: [], ...nonsense }) },
  'server.md createServer': { call: (engine) => createServer({ client: engine, ...nonsense }) },
  'client.md createClient': { call: () => createClient({ store: memory(), ...nonsense }) },
  'engine.md stop': { call: (engine) => engine.stop(nonsense) },
  'engine.md retention': { call: () => start({ retention: { '*': nonsense } }) },
  'engine.md check': { call: (engine) => engine.check(nonsense), noted: ['run', 'exports'] },
  'client.md run': { call: (engine) => engine.run(idle, undefined, nonsense) },
  'client.md runOrGet': {
    call: (engine) => engine.runOrGet(idle, undefined, { id: '7', ...nonsense }),
    others: ['client.md run'],
  },
  'client.md log': { call: (engine) => engine.log('7', nonsense) },
  'client.md state': { call: (engine) => engine.get('7').state('name', { wait: '1s', ...nonsense }) },
  'client.md update': { call: (engine) => engine.get('7').update('name', 1, nonsense) },
  'checkpoints.md checkpoints.create': { call: ({ checkpoints }) => checkpoints.create('7', 1, nonsense) },
  'checkpoints.md checkpoints.listAll': { call: ({ checkpoints }) => checkpoints.listAll(nonsense) },
  'checkpoints.md checkpoints.cleanup': { call: ({ checkpoints }) => checkpoints.cleanup(nonsense) },
  'client.md result': { call: (engine) => engine.get('7').result(nonsense) },
  'client.md signal': { call: (engine) => engine.get('7').signal('go', 1, nonsense) },
  'client.md cancel': { call: (engine) => engine.cancel('7', 'why', nonsense) },
  'client.md list': { call: (engine) => engine.list(nonsense) },
  'client.md retry': { call: (engine) => engine.retry('7', nonsense) },
  'client.md delete': { call: (engine) => engine.delete('7', nonsense) },
  'client.md export': { call: (engine) => engine.export('7', nonsense) },
  'client.md fork': { call: (engine) => engine.fork('7', { position: 1 }, nonsense) },
  'client.md import': { call: (engine) => engine.import(new Uint8Array(), nonsense) },
  'inbox.md inbox.list': { call: (engine) => engine.inbox.list(nonsense) },
  'inbox.md inbox.notices': { call: (engine) => engine.inbox.notices(nonsense) },
  'inbox.md inbox.readNotices': { call: (engine) => engine.inbox.readNotices([], nonsense as never) },
  'inbox.md inbox.watch': { call: ({ inbox }) => inbox.watch(nonsense)[Symbol.asyncIterator]().next() },
  'inbox.md inbox.next': { call: (engine) => engine.inbox.next(nonsense) },
  'inbox.md inbox.answer': {
    call: ({ inbox }) =>
      inbox.answer({ run: '7', key: 'k', ...nonsense }, { approved: true }, { as: 'user:ana' }),
  },
  'procedure.md procedure': { call: () => procedure({ name: 'idle', ...nonsense }, async () => 'done') },
  'procedure.md rollback': {
    call: () => procedure({ name: 'idle', owner: 'user:ana', rollback: nonsense }, async () => 'done'),
  },
  'procedure.md ctx.map': { call: within((ctx) => ctx.map([1], async (one, _ctx) => one, nonsense)) },
  'procedure.md ctx.progress': {
    call: within(async (ctx) => ctx.progress({ done: 1, ...nonsense })),
  },
  'step.md ctx.step': { call: within((ctx) => ctx.step('x', () => 1, nonsense)) },
  'step.md retry': { call: within((ctx) => ctx.step('x', () => 1, { retry: nonsense })) },
  'procedure.md ctx.receive': { call: within((ctx) => ctx.receive('go', nonsense)) },
  'procedure.md ctx.call': { call: within((ctx) => ctx.call(idle, undefined, nonsense)) },
  'agent.md agent': {
    call: () =>
      agent({ name: 'a', input: z.string(), output: z.string(), ...nonsense }, async (text) => text),
  },
  'agent.md ctx.agent': { call: within((ctx) => ctx.agent(writer, 'tea', nonsense)) },
  'agent.md ctx.agent.decide': {
    call: within((ctx) => ctx.agent.decide('Which?', ['a'], { fallback: 'a', ...nonsense })),
  },
  'human.md Options of every question': {
    call: within((ctx) => ctx.agent.decide('Which?', ['a'], { fallback: { ask: nonsense } })),
  },
  'human.md ctx.human.approve': {
    call: within((ctx) => ctx.human.approve('May I?', nonsense)),
    others: ['human.md Options of every question'],
  },
  'human.md ctx.human.input': {
    call: within((ctx) => ctx.human.input('Who?', z.string(), nonsense)),
    others: ['human.md Options of every question'],
  },
  'human.md ctx.human.select': {
    call: within((ctx) => ctx.human.select('Which?', ['a'], nonsense)),
    others: ['human.md Options of every question'],
  },
  'human.md ctx.human.review': {
    call: within((ctx) => ctx.human.review('Good?', 'text', nonsense)),
    others: ['human.md Options of every question'],
  },
  'human.md ctx.human.escalate': {
    call: within((ctx) => ctx.human.escalate('What now?', nonsense)),
    others: ['human.md Options of every question'],
    without: 'timeout',
  },
  'human.md ctx.human.notify': { call: within((ctx) => ctx.human.notify('Done', nonsense)) },
  'human.md Choices': { call: within((ctx) => ctx.human.select('Which?', [{ value: 'a', ...nonsense }])) },
  'human.md Risk': { call: asked({ risk: { level: 'low', ...nonsense } }) },
  'human.md Impact': { call: asked({ risk: { level: 'low', impact: nonsense } }) },
  'human.md Details': { call: asked({ details: [{ title: 'Why', body: 1, ...nonsense }] }) },
  'human.md Links': { call: asked({ links: [{ label: 'Shop', url: 'https://example.org', ...nonsense }] }) },
  'human.md Alternatives': { call: asked({ alternatives: [{ label: 'Wait', ...nonsense }] }) },
  'stores.md memory': { call: () => memory(nonsense) },
  'testing.md People': {
    call: (engine) => (engine as TestEngine).humans({ ask: 'Who?', answer: 'silence', ...nonsense }),
  },
  'stores.md sqlite': { call: () => sqlite('app.db', nonsense) },
  'stores.md postgres': { call: () => postgres('postgres://localhost/app', nonsense) },
  'procedure.md ctx.gate': {
    call: within((ctx) => ctx.gate('act', { params: {}, run: () => {}, ...nonsense })),
  },
  'procedure.md ctx.plan': {
    call: within((ctx) => ctx.plan([], { use: {}, ...nonsense })),
  },
  'channels.md channels': { call: async () => channels([], nonsense) },
  'plugins.md host.follow': {
    call: () => hosting((host) => void host.follow('the feed', () => {}, nonsense)),
  },
  'plugins.md host.answer': {
    call: () =>
      hosting((host) =>
        host.answer(
          { id: '7/0', to: [], alsoStartedBy: [] } as never,
          { choice: 'a' },
          {
            as: 'user:ana',
            ...nonsense,
          },
        ),
      ),
    without: 'names',
  },
  'testing.md checkDeterminism': {
    call: () => checkDeterminism(idle, { ...nonsense } as { readonly runs: 1 }),
    noted: ['input', 'inputs'],
  },
  'testing.md explore': { call: () => explore(idle, undefined, nonsense) },
  'testing.md testEngine': {
    call: () => testEngine({ procedures: [], ...nonsense }),
    others: ['engine.md createEngine'],
  },
}

/** Sections whose tables are of what an option or a result consists of, or of what an author implements. */
const parts: readonly string[] = [
  'agent.md The answer of a decider',
  ...['Channel', 'can', 'links', 'notices', 'recipients', 'submit'].map(
    (heading) => `channels.md ${heading}`,
  ),
  'plugins.md Plugin',
  ...['folder', 'mail', 'slack'].map((heading) => `channels.md ${heading}`),
  ...['auth', 'proxyHeader', 'webhooks'].map((heading) => `server.md ${heading}`),
  ...['Actions', 'Checks by agents', 'Checks by people', 'Tasks', 'Verifications'].map(
    (heading) => `procedure.md ${heading}`,
  ),
]

describe('the reference lists the options of', () => {
  test.each(Object.entries(known))('%s', async (heading, { call, others, without, noted = [] }) => {
    const message = await refusalOf(call)
    expect(message).toContain('There is no option nonsense in ')
    const listed = /Known options: (.*)\.$/.exec(message)?.[1]?.split(', ') ?? []
    const onPage = new Set([heading, ...(others ?? [])].flatMap(membersOf).map(({ name }) => name))
    if (without !== undefined) onPage.delete(without)
    expect([...onPage, ...noted].sort()).toEqual([...new Set(listed)].sort())
  })

  test('beside `as` and in `history` an unknown one is refused as well', async () => {
    const answered: Call = ({ inbox }) =>
      inbox.answer('7/0', { choice: 'a' }, { as: 'user:ana', ...nonsense })
    expect(await refusalOf(answered)).toContain('There is no option nonsense in the options of inbox.answer.')
    const remembered = asked({ history: { last: 1, ...nonsense } })
    expect(await refusalOf(remembered)).toContain('There is no option nonsense in history of select.')
  })

  test('every section that has a table', () => {
    const given = [...sections].filter(
      ([, { tables }]) => tables !== undefined && tables[0]?.isOutput !== true,
    )
    const headings = given.map(([heading]) => heading)
    expect(headings.filter((heading) => !parts.includes(heading)).sort()).toEqual(Object.keys(known).sort())
  })
})

// ── the calls that there are

/** The types whose methods users call or write; the properties among their members have sections for their own members. */
const contracts: readonly (readonly [file: string, type: string])[] = [
  ['core/src/authoring/ctx.ts', 'Ctx'],
  ['core/src/authoring/scopes/scope-ops.ts', 'ScopeOps'],
  ['core/src/authoring/human/human.ts', 'Human'],
  ['core/src/authoring/agent/agent.ts', 'AgentOps'],
  ['core/src/client/types.ts', 'Client'],
  ['core/src/client/types.ts', 'Engine'],
  ['core/src/client/types.ts', 'RunHandle'],
  ['core/src/client/types.ts', 'Inbox'],
  ['core/src/client/checkpoints/checkpoint.ts', 'Checkpoints'],
  ['core/src/client/plugins/plugin.ts', 'Plugin'],
  ['core/src/client/plugins/plugin.ts', 'PluginHost'],
  ['channels/src/channel.ts', 'Channel'],
  ['server/src/types.ts', 'Server'],
  ['testing/src/test-engine.ts', 'TestEngine'],
]

test('the reference has a section for each call, or names it in the section of another', () => {
  const told = new Set([...sections.values()].flatMap(({ of }) => (of === undefined ? [] : of.join(' '))))
  const notes = [...sections.values()].map(({ note }) => note ?? '').join(' ')
  const missing = contracts.flatMap(([file, type]) => {
    const properties = new Set(find(file, type).members.map(({ name }) => name))
    return [...readDeclarations(join(root, 'packages', file), new Map()).keys()]
      .filter((name) => name.startsWith(`${type}.`) && !properties.has(name.slice(type.length + 1)))
      .filter((name) => !told.has(`${file} ${name}`) && !isNoted(name))
  })
  expect(missing).toEqual([])

  function isNoted(name: string): boolean {
    return notes.includes(`\`${name.replace('RunHandle.', 'run.')}(`)
  }
})

// ── what may be given

/** Calls that refuse a value, each because of the bounds or the words that the page says. */
const refused: readonly (readonly [heading: string, option: string, call: Call])[] = [
  ['engine.md createEngine', 'maxCrashes', () => start({ maxCrashes: 1 })],
  ['engine.md createEngine', 'concurrency', () => start({ concurrency: 0 })],
  ['engine.md createEngine', 'lease', () => start({ lease: '0.9s' })],
  ['engine.md createEngine', 'determinism', () => start({ determinism: 'some' as never })],
  ['stores.md sqlite', 'driver', () => sqlite('app.db', { driver: 'sqlite3' as never })],
  ['stores.md postgres', 'schema', () => postgres('postgres://localhost/app', { schema: 'pg_mine' })],
  ['client.md list', 'limit', (engine) => engine.list({ limit: 501 })],
  ['client.md list', 'status', (engine) => engine.list({ status: 'some' as never })],
  ['inbox.md inbox.list', 'limit', ({ inbox }) => inbox.list({ limit: 0 })],
  ['inbox.md inbox.list', 'status', ({ inbox }) => inbox.list({ status: 'some' as never })],
  ['inbox.md inbox.list', 'kind', ({ inbox }) => inbox.list({ kind: 'some' as never })],
  [
    'procedure.md procedure',
    'version',
    () => procedure({ name: 'idle', version: 2 ** 31 }, async () => 'done'),
  ],
  ['step.md retry', 'attempts', within((ctx) => ctx.step('x', () => 1, { retry: { attempts: 0 } }))],
  ['step.md retry', 'factor', within((ctx) => ctx.step('x', () => 1, { retry: { factor: 1_001 } }))],
  [
    'step.md retry',
    'jitter',
    within((ctx) => ctx.step('x', () => 1, { retry: { jitter: 'some' as never } })),
  ],
  ['agent.md ctx.agent.decide', 'minConfidence', decided({ minConfidence: 1.1 })],
  ['agent.md ctx.agent.decide', 'attempts', decided({ attempts: 0 })],
  ['human.md Options of every question', 'history', asked({ history: { last: 1_001 } })],
  [
    'human.md ctx.human.escalate',
    'severity',
    within((ctx) => ctx.human.escalate('?', { severity: 'some' as never })),
  ],
  [
    'human.md ctx.human.notify',
    'severity',
    within((ctx) => ctx.human.notify('Done', { severity: 'some' as never })),
  ],
  [
    'human.md Choices',
    'style',
    within((ctx) => ctx.human.select('?', [{ value: 'a', style: 'some' as never }])),
  ],
  ['human.md Risk', 'level', asked({ risk: 'some' })],
  ['human.md Details', 'as', asked({ details: [{ title: 'Why', body: 1, as: 'some' }] })],
]

function start(options: Omit<Partial<EngineOptions>, 'store'>): Promise<Engine> {
  return createEngine({ store: memory(), procedures: [], ...options })
}

function decided(options: object): Call {
  return within((ctx) => ctx.agent.decide('Which?', ['a'], { fallback: 'a', ...options }))
}

describe('the reference states the range of', () => {
  test.each(refused)('%s: %s', async (heading, option, call) => {
    const message = await refusalOf(call)
    const { type, doc } = memberOf(heading, option)
    const words = wordsIn(/one of .*$/.exec(message)?.[0] ?? '')
    if (words.length > 0) return expect(wordsIn(type)).toEqual(words)
    const stated = doc.range.replaceAll('`', '').replace(/^(last|whole numbers) /, '')
    expect(stated).not.toBe('')
    expect(message).toContain(`${stated}.`)
  })

  test('onTimeout', async () => {
    const rows = sections.get('human.md onTimeout')?.note?.split('\n') ?? []
    const forms = (kind: string): string[] =>
      rows.flatMap((row) => {
        const [, form = '', kinds = ''] = row.split('|')
        return kinds.trim().split(', ').includes(kind) ? [form] : []
      })
    const silent = { timeout: '1h', onTimeout: 'some' as never } as const
    const refusals: { readonly [kind: string]: Call } = {
      approve: within((ctx) => ctx.human.approve('May I?', silent)),
      input: within((ctx) => ctx.human.input('Who?', z.string(), silent)),
      select: within((ctx) => ctx.human.select('Which?', ['a'], silent)),
      review: within((ctx) => ctx.human.review('Good?', 'text', silent)),
    }
    for (const [kind, call] of Object.entries(refusals)) {
      const words = wordsIn(/one of .*$/.exec(await refusalOf(call))?.[0] ?? '')
      expect(forms(kind).flatMap(wordsIn).sort(), kind).toEqual(words.sort())
    }
    for (const [key, value] of Object.entries({ default: 'a', escalateTo: 'user:ana' })) {
      expect(forms('select').join()).toContain(`{ ${key}:`)
      const message = await refusalOf(asked({ timeout: '1h', onTimeout: { [key]: value, ...nonsense } }))
      expect(message).toContain(`Known options: ${key}.`)
    }
  })

  test('onTimeout needs a timeout, if only an undefined one', async () => {
    const call = within((ctx) => ctx.human.approve('May I?', { onTimeout: 'fail' } as never))
    expect(await refusalOf(call)).toContain('The option onTimeout of approve needs a timeout.')
    expect(
      await refusalOf(
        within((ctx) => ctx.human.approve('May I?', { timeout: undefined, onTimeout: 'none' as never })),
      ),
    ).toContain('cannot be')
  })

  test('an escalation takes no timeout', async () => {
    const call = within((ctx) => ctx.human.escalate('What now?', { timeout: '1h' as never }))
    expect(await refusalOf(call)).toContain('The option timeout of escalate cannot be')
  })
})

// ── what is taken if nothing is given

describe('the reference states the defaults', () => {
  test('of engines', () => {
    const { concurrency, leaseMs, determinism, maxCrashes } = readEngineOptions({ procedures: [] })
    expect(defaultOf('engine.md createEngine', 'maxCrashes')).toBe(`${maxCrashes}`)
    expect(defaultOf('engine.md createEngine', 'concurrency')).toBe(`${concurrency}`)
    expect(defaultOf('engine.md createEngine', 'lease')).toBe(spanOf(leaseMs))
    expect(defaultOf('testing.md testEngine', 'lease')).toBe(spanOf(leaseMs))
    expect(defaultOf('engine.md createEngine', 'determinism')).toBe(`'${determinism}'`)
    expect(defaultOf('engine.md stop', 'within')).toBe(spanOf(readStopOptions(undefined)))
    expect(defaultOf('procedure.md procedure', 'version')).toBe(`${idle.version}`)
  })

  test('of lists', async () => {
    const many = procedure({ name: 'many' }, (ctx) =>
      Promise.all(Array.from({ length: 51 }, () => ctx.human.approve('May I?'))),
    )
    await using engine = await testEngine({ procedures: [idle, many] })
    await Promise.all(Array.from({ length: 51 }, () => engine.run(idle)))
    expect(defaultOf('client.md list', 'limit')).toBe(`${(await engine.list()).items.length}`)
    await engine.run(many)
    await engine.inbox.next()
    const { items } = await engine.inbox.list()
    expect(defaultOf('inbox.md inbox.list', 'limit')).toBe(`${items.length}`)
    expect(defaultOf('inbox.md inbox.list', 'status')).toBe(`'${items[0]?.status}'`)
  })

  test('of retries', async () => {
    const jitter = 'none' as const
    const [defaults, first, two, many] = await Promise.all([
      failFor({}),
      failFor({ retry: { attempts: 2, jitter } }),
      failFor({ retry: { attempts: 3, jitter } }),
      failFor({ retry: { attempts: 9, jitter } }),
    ])
    expect(defaultOf('step.md retry', 'attempts')).toBe(`${defaults.attempts}`)
    expect(defaultOf('step.md retry', 'backoff')).toBe(spanOf(first.ms))
    expect(defaultOf('step.md retry', 'factor')).toBe(`${(two.ms - first.ms) / first.ms}`)
    const eighth = many.ms - (await failFor({ retry: { attempts: 8, jitter } })).ms
    expect(defaultOf('step.md retry', 'max')).toBe(`${spanOf(eighth)}, or the \`backoff\` if it is longer`)
    expect((await failFor({ retry: { attempts: 2, jitter, backoff: '2m' } })).ms).toBe(120_000)
    expect(defaultOf('step.md retry', 'jitter')).toBe("'full'")
    expect(defaults.ms).toBeLessThan(two.ms)
  })

  test('of decisions', async () => {
    const silent = agent({ name: 'silent', input: z.unknown(), output: z.unknown() }, (_, { signal }) => {
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    })
    const failing = agent({ name: 'failing', input: z.unknown(), output: z.unknown() }, async () => {
      throw new Error('no')
    })
    const torn = procedure({ name: 'torn' }, async (ctx) => {
      const began = ctx.now().getTime()
      await ctx.agent.decide('Which?', ['a'], { agent: silent as never, fallback: 'a', attempts: 1 })
      const took = ctx.now().getTime() - began
      await ctx.agent.decide('Which?', ['a'], { agent: failing as never, fallback: 'a' })
      return took
    })
    await using engine = await testEngine({ procedures: [torn] })
    expect(defaultOf('agent.md ctx.agent.decide', 'timeout')).toBe(
      spanOf(await (await engine.run(torn)).result()),
    )
    expect(defaultOf('agent.md ctx.agent.decide', 'attempts')).toBe(`${engine.calls['failing']}`)
  })

  test('of questions', async () => {
    const asks = await asksOf(async (ctx) => {
      for (let i = 0; i < 9; i++) await ctx.step('load', () => i)
      await Promise.all([ctx.human.escalate('What now?'), ctx.human.review('Good?', 'text')])
    }, 2)
    const [escalate, review] = ['escalate', 'review'].map((kind) => asks.find((ask) => ask.kind === kind))
    expect(defaultOf('human.md Options of every question', 'history')).toBe(
      `\`{ last: ${review?.history.length} }\``,
    )
    expect(defaultOf('human.md ctx.human.escalate', 'severity')).toBe(`'${escalate?.severity}'`)
    expect(wordsIn(defaultOf('human.md ctx.human.escalate', 'choices'))).toEqual(valuesOf(escalate))
    expect(wordsIn(defaultOf('human.md ctx.human.review', 'choices'))).toEqual(valuesOf(review))
    expect(defaultOf('human.md ctx.human.review', 'editable')).toBe(
      `\`${review?.editable.includes('artifact')}\``,
    )
  })

  test('of silence', async () => {
    const timeout = '1h'
    const asking = procedure({ name: 'asking' }, async (ctx) => {
      const settled = await Promise.allSettled([
        ctx.human.input('Who?', z.string(), { timeout }),
        ctx.human.select('Which?', ['a'], { timeout }),
        ctx.human.review('Good?', 'text', { timeout }),
      ])
      const { approved } = await ctx.human.approve('May I?', { timeout })
      const fails = settled.map(
        (one) => one.status === 'rejected' && PawlError.is(one.reason, 'ask-timed-out'),
      )
      return { approved, fails }
    })
    await using engine = await testEngine({
      procedures: [asking],
      humans: [{ ask: '?', answer: 'silence' }],
    })
    const { approved, fails } = await (await engine.run(asking)).result()
    expect([approved, defaultOf('human.md ctx.human.approve', 'onTimeout')]).toEqual([
      false,
      "'reject' for `approve`, 'fail' for the others",
    ])
    for (const [index, kind] of ['input', 'select', 'review'].entries()) expect(fails[index], kind).toBe(true)
  })

  test('of tests', async () => {
    const asking = procedure({ name: 'asking' }, async (ctx) => {
      const began = ctx.now()
      const { by, at } = await ctx.human.approve('May I?')
      return { began, by, after: at.getTime() - began.getTime(), chance: ctx.random() }
    })
    const options: TestEngineOptions = {
      procedures: [asking],
      humans: [{ ask: 'May I?', answer: { approved: true } }],
    }
    await using engine = await testEngine(options)
    const { began, by, after, chance } = await (await engine.run(asking)).result()
    expect(new Date(defaultOf('testing.md testEngine', 'now').replaceAll('`', ''))).toEqual(began)
    expect(defaultOf('testing.md People', 'after')).toBe(spanOf(after))
    expect(defaultOf('testing.md People', 'as')).toBe(`'${by}'`)
    await using seeded = await testEngine({
      ...options,
      seed: Number(defaultOf('testing.md testEngine', 'seed')),
    })
    expect((await (await seeded.run(asking)).result()).chance).toBe(chance)
  })
})

/** How often a step that fails is tried, and how long that takes. */
async function failFor(options: object): Promise<{ readonly attempts: number; readonly ms: number }> {
  const failing = procedure({ name: 'failing' }, async (ctx) => {
    const began = ctx.now().getTime()
    const fail = () => {
      throw new Error('no')
    }
    await ctx.step('fail', fail, options).catch(() => {})
    return ctx.now().getTime() - began
  })
  await using engine = await testEngine({ procedures: [failing] })
  const ms = await (await engine.run(failing)).result()
  return { attempts: engine.calls['fail'] ?? 0, ms }
}

/** The questions that a run asks. */
async function asksOf(body: (ctx: Ctx) => Promise<unknown>, count: number): Promise<readonly Ask[]> {
  const asking = procedure({ name: 'asking' }, body)
  await using engine = await testEngine({ procedures: [asking] })
  await engine.run(asking)
  await engine.inbox.next()
  const { items } = await engine.inbox.list()
  expect(items).toHaveLength(count)
  return items
}

function valuesOf(ask: Ask | undefined): readonly string[] | undefined {
  return ask?.choices.map(({ value }) => value)
}
