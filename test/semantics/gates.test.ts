import { type Ask, decider, type Gate, type PolicyQuestion, type PolicyVerdict, procedure } from '@pawl/core'
import { memory, type Person, testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { keepLines, refusalOf } from './support.ts'

const yes: Person = { ask: /./, answer: { approved: true }, as: 'user:ana' }
const no: Person = { ask: /./, answer: { approved: false }, as: 'user:ana' }

interface World {
  /** What the facts are, reading after reading; the last one stays. */
  readonly facts: unknown[]
  /** What was done: the params and facts of each act, with its key. */
  readonly acts: { readonly params: object; readonly facts: unknown; readonly key: string }[]
}

/** A procedure with one gate that changes a price. */
function makeRaise(given: Partial<Gate<{ price: number }, unknown, string>> = {}, facts: unknown[] = ['v1']) {
  const world: World = { facts: [...facts], acts: [] }
  const raise = procedure({ name: 'raise' }, (ctx) =>
    ctx.gate('set price', {
      params: { price: 5 },
      human: { message: 'Set the price to {price}?', editable: ['price'] },
      facts: () => (world.facts.length > 1 ? world.facts.shift() : world.facts[0]),
      run: (params, { idempotencyKey }, facts) => {
        world.acts.push({ params, facts, key: idempotencyKey })
        return `price ${params.price}`
      },
      ...given,
    }),
  )
  return { raise, world }
}

const judgeOf = (choice: string, rationale = 'because') =>
  decider('judge', async () => ({ choice, rationale, confidence: 1 }))

async function namesOf(engine: Awaited<ReturnType<typeof testEngine>>, run: string): Promise<string[]> {
  const { execution_log } = await engine.log(run)
  return execution_log.map(({ type, name, status }) => `${type} ${name} ${status}`)
}

describe('the operations of a gate', () => {
  const asked = ['step set price · policy done', 'step set price · facts done']

  test('a yes of a person is followed by a second reading and the action, with what was approved', async () => {
    const { raise, world } = makeRaise()
    const edits: Person = { ...yes, answer: { approved: true, params: { price: 6 } } }
    await using engine = await testEngine({ procedures: [raise], humans: [edits] })
    const run = await engine.run(raise)
    expect(await run.result()).toEqual({ done: true, value: 'price 6', params: { price: 6 }, by: 'user:ana' })
    expect(world.acts).toMatchObject([{ params: { price: 6 }, facts: 'v1' }])
    expect(await namesOf(engine, run.id)).toEqual([
      ...asked,
      'hitl_approval set price · approve done',
      'step set price · facts done',
      'step set price done',
    ])
  })

  test('an agent that agrees is asked in place of a person', async () => {
    const { raise } = makeRaise({ policy: () => 'agent' })
    await using engine = await testEngine({ procedures: [raise], decider: judgeOf('approve') })
    const run = await engine.run(raise)
    expect(await run.result()).toMatchObject({ done: true, by: 'agent:judge' })
    expect(await namesOf(engine, run.id)).toEqual([
      ...asked,
      'ail_decision set price · decide done',
      'step set price · facts done',
      'step set price done',
    ])
  })

  test('an agent passes the question on to people, who see its assessment', async () => {
    const { raise } = makeRaise({
      policy: () => 'agent',
      agent: { agent: judgeOf('ask-human', 'it is a lot') },
    })
    const seen: Ask[] = []
    const person: Person = { ...yes, ask: (ask) => seen.push(ask) > 0 }
    await using engine = await testEngine({ procedures: [raise], humans: [person] })
    const run = await engine.run(raise)
    expect(await run.result()).toMatchObject({ done: true, by: 'user:ana' })
    expect(await namesOf(engine, run.id)).toEqual([
      ...asked,
      'ail_decision set price · decide done',
      'hitl_approval set price · approve done',
      'step set price · facts done',
      'step set price done',
    ])
    expect(seen[0]?.details).toMatchObject([
      { title: 'Assessment by agent:judge', body: 'it is a lot' },
      { title: 'Facts', body: 'v1' },
    ])
  })

  test('an action that needs no consent reads the facts once', async () => {
    const { raise } = makeRaise({ policy: () => 'allow' })
    await using engine = await testEngine({ procedures: [raise] })
    const run = await engine.run(raise)
    expect(await run.result()).toMatchObject({ done: true, by: 'policy:gate' })
    expect(await namesOf(engine, run.id)).toEqual([...asked, 'step set price done'])
  })

  test('an agent without anybody to be is replaced by a person', async () => {
    const { raise } = makeRaise({ policy: () => 'agent' })
    await using engine = await testEngine({ procedures: [raise], humans: [yes] })
    expect(await (await engine.run(raise)).result()).toMatchObject({ done: true, by: 'user:ana' })
  })

  test('the action is undone on rollback', async () => {
    const undone: unknown[] = []
    const saga = procedure({ name: 'saga' }, async (ctx) => {
      const run = () => 'set'
      await ctx.gate('set price', {
        params: {},
        policy: () => 'allow',
        run,
        undo: (result) => undone.push(result),
      })
      await ctx.rollback('no more')
    })
    await using engine = await testEngine({ procedures: [saga] })
    await (await engine.run(saga)).result()
    expect(undone).toEqual(['set'])
  })

  test('gates of one name have questions with different keys', async () => {
    const both = procedure({ name: 'both' }, (ctx) =>
      Promise.all([1, 2].map((n) => ctx.gate('pay', { params: { n }, run: ({ n }) => n }))),
    )
    const keys: unknown[] = []
    const person: Person = { ...yes, ask: ({ key }) => keys.push(key) > 0 }
    await using engine = await testEngine({ procedures: [both], humans: [person] })
    expect(await (await engine.run(both)).result()).toMatchObject([{ value: 1 }, { value: 2 }])
    expect(new Set(keys)).toEqual(new Set(['pay', 'pay-2']))
  })
})

describe('no consent, no action', () => {
  test.each<readonly [string, Partial<Gate<{ price: number }, unknown, string>>, Person, object]>([
    ['a person says no', {}, no, { reason: 'rejected', by: 'user:ana' }],
    [
      'nobody answers in time',
      { human: { timeout: '1h' } },
      { ...yes, answer: 'silence' },
      { reason: 'timed-out', by: 'policy:on-timeout' },
    ],
    [
      'the policy of the gate forbids it',
      { policy: () => 'deny' },
      yes,
      { reason: 'denied', by: 'policy:gate' },
    ],
    [
      'the agent says no',
      { policy: () => 'agent', agent: { agent: judgeOf('reject') } },
      yes,
      { reason: 'rejected', by: 'agent:judge' },
    ],
    [
      'the agent cannot decide and the fallback is no',
      { policy: () => 'agent', agent: { agent: judgeOf('what?'), fallback: 'reject', attempts: 1 } },
      yes,
      { reason: 'rejected', by: 'policy:fallback' },
    ],
  ])('%s: the action does not run', async (_, gate, person, expected) => {
    const { raise, world } = makeRaise(gate)
    await using engine = await testEngine({ procedures: [raise], humans: [person] })
    await engine.crash('every')
    expect(await (await engine.run(raise)).result()).toEqual({ done: false, ...expected })
    expect(world.acts).toEqual([])
  })
})

describe('facts', () => {
  const sequences = Array.from({ length: 64 }, (_, bits) =>
    Array.from({ length: 6 }, (_, reading) => (bits >> reading) & 1),
  )

  test('the action runs in the first round whose two readings agree, with that fact, in all orders', async () => {
    const made = sequences.map((facts, n) => {
      const { world } = makeRaise({}, facts)
      const copy = procedure({ name: `raise ${n}` }, (ctx) =>
        ctx.gate('set price', {
          params: { price: n },
          facts: () => world.facts.shift(),
          run: (params, call, fact) => {
            world.acts.push({ params, facts: fact, key: call.idempotencyKey })
          },
        }),
      )
      return { facts, copy, world }
    })
    await using engine = await testEngine({ procedures: made.map(({ copy }) => copy), humans: [yes] })
    for (const { facts, copy, world } of made) {
      const round = [0, 1, 2].find((n) => facts[2 * n] === facts[2 * n + 1])
      const run = await engine.run(copy)
      const result = await run.result()
      const asks = (await engine.log(run.id)).execution_log.filter(({ type }) => type === 'hitl_approval')
      expect(asks.length, String(facts)).toBe(round === undefined ? 3 : round + 1)
      if (round === undefined) expect(result).toEqual({ done: false, reason: 'changing', by: 'policy:facts' })
      else expect(world.acts).toMatchObject([{ facts: facts[2 * round] }])
      expect(world.acts).toHaveLength(round === undefined ? 0 : 1)
    }
  })

  test('a question that is asked again shows the difference, and keeps what the person has edited', async () => {
    const { raise, world } = makeRaise({}, ['v1', 'v2', 'v2', 'v2'])
    const seen: Ask[] = []
    const person: Person = {
      ...yes,
      ask: (ask) => seen.push(ask) > 0,
      answer: ({ params }) => ({
        approved: true,
        params: { price: (params as { price: number }).price + 1 },
      }),
    }
    await using engine = await testEngine({ procedures: [raise], humans: [person] })
    const run = await engine.run(raise)
    expect(await run.result()).toMatchObject({ params: { price: 7 } })
    expect(world.acts).toMatchObject([{ params: { price: 7 }, facts: 'v2' }])
    expect(seen.map(({ key }) => key)).toEqual(['set price', 'set price ~2'])
    expect(seen[1]).toMatchObject({
      params: { price: 6 },
      details: [{ title: 'Facts, changed since', body: { before: 'v1', now: 'v2' } }],
    })
  })

  test('a yes that is older than validFor is asked again', async () => {
    const store = memory()
    const { raise, world } = makeRaise({ validFor: '4h' })
    const silent: Person = { ...yes, answer: 'silence' }
    const first = await testEngine({ procedures: [raise], store, humans: [silent] })
    const { id } = await first.run(raise)
    const ask = await first.inbox.next()
    await first.stop()
    {
      await using without = await testEngine({ procedures: [], store })
      await without.inbox.answer(ask.id, { approved: true }, { as: 'user:bob' })
      await without.advance('5h')
    }
    await using engine = await testEngine({ procedures: [raise], store, humans: [yes] })
    expect(await engine.get(id).result()).toMatchObject({ done: true, by: 'user:ana' })
    expect(world.acts).toHaveLength(1)
    const { execution_log } = await engine.log(id)
    expect(execution_log.filter(({ type }) => type === 'hitl_approval')).toHaveLength(2)
  })
})

describe('crashes', () => {
  test.each(['person', 'agent'])(
    'with the yes of a %s the action happens once, with one key, whatever crashes',
    async (who) => {
      for (const replay of ['always', 'on-crash'] as const) {
        const { raise, world } = makeRaise({ policy: () => (who === 'agent' ? 'agent' : 'human') }, [
          'v1',
          'v2',
          'v3',
        ])
        await using engine = await testEngine({
          procedures: [raise],
          humans: [yes],
          replay,
          ...(who === 'agent' ? { decider: judgeOf('approve') } : {}),
        })
        await engine.crash('every')
        expect(await (await engine.run(raise)).result()).toMatchObject({ done: true })
        expect(world.acts).toHaveLength(1)
      }
    },
  )

  test('a crash between the effect and its record repeats the action with its key', async () => {
    const keys: string[] = []
    const pay = procedure({ name: 'pay' }, (ctx) =>
      ctx.gate('pay', {
        params: {},
        run: async (_, { idempotencyKey }) => {
          keys.push(idempotencyKey)
          if (keys.length === 1) await engine.crash()
          return 'paid'
        },
      }),
    )
    await using engine = await testEngine({ procedures: [pay], humans: [yes] })
    const run = await engine.run(pay)
    expect(await run.result()).toMatchObject({ value: 'paid' })
    expect(keys).toHaveLength(2)
    expect(new Set(keys).size).toBe(1)
    const { execution_log } = await engine.log(run.id)
    expect(execution_log.filter(({ type }) => type === 'hitl_approval')).toHaveLength(1)
  })

  test('an attempt that changes its params or facts changes those of no other', async () => {
    const seen: unknown[] = []
    const pay = procedure({ name: 'pay' }, (ctx) =>
      ctx.gate('pay', {
        params: { cents: 1 },
        facts: () => ({ at: 1 }),
        retry: { backoff: '1s' },
        run: (params, { attempt }, facts) => {
          seen.push({ ...params, ...facts })
          params.cents = 2
          facts.at = 2
          if (attempt === 1) throw new Error('once more')
        },
      }),
    )
    await using engine = await testEngine({ procedures: [pay], humans: [yes] })
    expect(await (await engine.run(pay)).result()).toMatchObject({ params: { cents: 1 } })
    expect(seen).toEqual([
      { cents: 1, at: 1 },
      { cents: 1, at: 1 },
    ])
  })
})

describe('the policy of the engine', () => {
  const ranks = ['allow', 'agent', 'human', 'deny'] as const

  test('the stricter of two verdicts counts', async () => {
    const at = procedure(
      { name: 'at', input: z.object({ own: z.enum(ranks), engine: z.enum(ranks) }) },
      (ctx, { own, engine }) =>
        ctx.gate('act', { params: { engine }, policy: () => own, run: () => 'acted' }),
    )
    await using engine = await testEngine({
      procedures: [at],
      humans: [yes],
      decider: judgeOf('approve'),
      policy: ({ params }) => (params as { engine: PolicyVerdict }).engine,
    })
    for (const [i, own] of ranks.entries())
      for (const [j, other] of ranks.entries()) {
        const verdict = ranks[Math.max(i, j)]
        const by = j > i ? 'policy:engine' : 'policy:gate'
        const result = await (await engine.run(at, { own, engine: other })).result()
        if (verdict === 'deny') expect(result).toEqual({ done: false, reason: 'denied', by })
        else
          expect(result).toMatchObject({
            by: { allow: by, agent: 'agent:judge', human: 'user:ana' }[verdict as 'allow'],
          })
      }
  })

  test('the policy sees what is to be done', async () => {
    const seen: PolicyQuestion[] = []
    const { raise } = makeRaise({ classes: ['cost', 'ours'], policy: () => 'allow' })
    const policy = (action: PolicyQuestion): PolicyVerdict => {
      seen.push(action)
      return 'allow'
    }
    await using engine = await testEngine({ procedures: [raise], policy })
    await (await engine.run(raise, undefined, { by: 'user:eve' })).result()
    expect(seen).toEqual([
      {
        procedure: 'raise',
        name: 'set price',
        classes: ['cost', 'ours'],
        params: { price: 5 },
        startedBy: 'user:eve',
      },
    ])
  })

  test('a policy that throws, or returns something else, means that a person is asked', async () => {
    const own = makeRaise({
      policy: () => {
        throw new Error('no idea')
      },
    })
    for (const policy of [
      undefined,
      () => 'perhaps' as 'allow',
      async () => Promise.reject(new Error('down')),
    ]) {
      const { raise } = policy === undefined ? own : makeRaise({ policy: () => 'allow' })
      const { logger, lines } = keepLines()
      await using engine = await testEngine({
        procedures: [raise],
        humans: [yes],
        logger,
        ...(policy === undefined ? {} : { policy }),
      })
      expect(await (await engine.run(raise)).result()).toMatchObject({ done: true, by: 'user:ana' })
      expect(lines.filter(({ level }) => level === 'warn')).toHaveLength(1)
    }
  })

  test('another policy on replay changes nothing', async () => {
    const store = memory()
    const { raise } = makeRaise()
    const first = await testEngine({
      procedures: [raise],
      store,
      humans: [{ ...yes, answer: 'silence' }],
      policy: () => 'human',
    })
    const { id } = await first.run(raise)
    const ask = await first.inbox.next()
    await first.stop()
    let asked = 0
    await using engine = await testEngine({
      procedures: [raise],
      store,
      humans: [yes],
      replay: 'always',
      policy: () => {
        asked++
        return 'deny'
      },
    })
    await engine.inbox.answer(ask.id, { approved: true }, { as: 'user:bob' })
    expect(await engine.get(id).result()).toMatchObject({ done: true, by: 'user:bob' })
    expect(asked).toBe(0)
  })
})

describe('a step with classes', () => {
  const wipe = procedure({ name: 'wipe' }, (ctx) =>
    ctx.step('wipe', () => 'wiped', { classes: ['destructive'] }),
  )

  test.each(['agent', 'human', 'deny'] as const)(
    'fails before its body if the verdict is %s',
    async (verdict) => {
      await using engine = await testEngine({ procedures: [wipe], policy: () => verdict })
      await engine.crash('every')
      const error = await refusalOf((await engine.run(wipe)).result())
      expect(error).toMatchObject({ code: 'run-failed', details: { cause: { code: 'policy-refused' } } })
      expect(engine.calls).toEqual({})
    },
  )

  test('runs if the policy allows it, or if there is none', async () => {
    for (const policy of [() => 'allow' as const, undefined]) {
      await using engine = await testEngine({
        procedures: [wipe],
        ...(policy === undefined ? {} : { policy }),
      })
      const run = await engine.run(wipe)
      expect(await run.result()).toBe('wiped')
      expect(await namesOf(engine, run.id)).toEqual(['step wipe · policy done', 'step wipe done'])
    }
  })

  test('keeps its verdict if the policy becomes stricter while the step runs', async () => {
    let verdict: PolicyVerdict = 'allow'
    const strict = procedure({ name: 'strict' }, (ctx) =>
      ctx.step(
        'act',
        async ({ attempt }) => {
          verdict = 'deny'
          if (attempt === 1) throw new Error('once more')
          return 'acted'
        },
        { classes: ['cost'] },
      ),
    )
    await using engine = await testEngine({ procedures: [strict], policy: () => verdict, replay: 'always' })
    await engine.crash('every')
    expect(await (await engine.run(strict)).result()).toBe('acted')
  })
})

describe('refused calls', () => {
  const run = () => {}
  test.each<readonly [string, object, RegExp]>([
    [
      'an unknown option',
      { params: {}, run, message: 'x' },
      /no option message in the options of gate 'act'/,
    ],
    ['no action', { params: {} }, /run of gate 'act'/],
    ['no params', { run }, /params of gate 'act'/],
    [
      'a param that cannot be edited',
      { params: {}, run, human: { editable: ['a'] } },
      /editable of gate 'act'/,
    ],
    [
      'consent by silence',
      { params: {}, run, human: { risk: 'low', timeout: '1h', onTimeout: 'approve' } },
      /human.onTimeout of gate 'act'/,
    ],
    [
      'a choice of its own',
      { params: {}, run, human: { onReject: 'cancel-run' } },
      /human.onReject of gate 'act'/,
    ],
    ['an agent that is none', { params: {}, run, agent: { agent: {} } }, /agent of decide/],
    ['no facts', { params: {}, run, facts: 1 }, /facts of gate 'act'/],
    ['a wrong time', { params: {}, run, validFor: '4 hours' }, /4 hours/],
  ])('%s takes no position', async (_, spec, message) => {
    const wrong = procedure({ name: 'wrong', bugs: 'fail' }, async (ctx) => {
      const gate = ctx.gate as unknown as (name: string, spec: object) => Promise<unknown>
      await gate('act', spec)
    })
    await using engine = await testEngine({ procedures: [wrong] })
    const run = await engine.run(wrong)
    expect((await refusalOf(run.result())).message).toMatch(message)
    expect(await namesOf(engine, run.id)).toEqual([])
  })

  test('a step cannot have the name of an earlier gate', async () => {
    const twice = procedure({ name: 'twice', bugs: 'fail' }, async (ctx) => {
      await ctx.gate('act', { params: {}, policy: () => 'allow', run: () => {} })
      await ctx.step('act', () => {})
    })
    await using engine = await testEngine({ procedures: [twice] })
    await expect((await engine.run(twice)).result()).rejects.toThrow(/name of step/)
  })
})
