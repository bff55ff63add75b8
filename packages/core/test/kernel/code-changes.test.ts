import { describe, expect, test } from 'vitest'
import { Log } from './support/log.ts'
import {
  describePending,
  goOn,
  inOrder,
  live,
  type Ops,
  type Procedure,
  replay,
  Trial,
} from './support/trial.ts'

const hop = async (times: number): Promise<void> => {
  for (let i = 0; i < times; i++) await null
}

/** An old run: what its code was, and in which order its operations have settled before the code was changed. */
interface Old {
  readonly code: Procedure
  readonly settled: readonly string[]
}

/** One after the other, then two at once, then a loop, then a branch. */
const refund: Old = {
  code: async (ctx) => {
    const order = await ctx.step('load')
    const amount = await ctx.step('price')
    await Promise.all([ctx.step('reserve'), ctx.step('notify')])
    for (let i = 0; i < 2; i++) await ctx.step('poll')
    if (amount === 'price!') await ctx.approve('approve')
    else await ctx.step('refuse')
    await ctx.step('pay')
    return order
  },
  settled: ['load', 'price', 'notify', 'reserve', 'poll', 'poll', 'approve', 'pay'],
}

/** The same code with one part of it replaced. */
interface Parts {
  start(ctx: Ops): Promise<unknown>
  middle(ctx: Ops): Promise<unknown>
  loop(ctx: Ops): Promise<unknown>
  branch(ctx: Ops, amount: unknown): Promise<unknown>
  pay(ctx: Ops): Promise<unknown>
}
const parts: Parts = {
  start: async (ctx) => {
    await ctx.step('load')
    return ctx.step('price')
  },
  middle: (ctx) => Promise.all([ctx.step('reserve'), ctx.step('notify')]),
  loop: async (ctx) => {
    for (let i = 0; i < 2; i++) await ctx.step('poll')
  },
  branch: (ctx, amount) => (amount === 'price!' ? ctx.approve('approve') : ctx.step('refuse')),
  pay: (ctx) => ctx.step('pay'),
}
const changed = (change: Partial<Parts>): Procedure => {
  const { start, middle, loop, branch, pay } = { ...parts, ...change }
  return async (ctx) => {
    const amount = await start(ctx)
    await middle(ctx)
    await loop(ctx)
    await branch(ctx, amount)
    await pay(ctx)
    return 'load!'
  }
}

interface Change {
  readonly code: Procedure
  readonly position: number
  readonly recorded: string
  readonly asked: string
  readonly thrown?: { readonly error: unknown }
}

const changes: { readonly [what: string]: Change } = {
  'an operation added before all others': {
    code: changed({ start: async (ctx) => [await ctx.step('check'), await parts.start(ctx)][1] }),
    position: 0,
    recorded: 'step "load" in turn 0',
    asked: 'step "check" in turn 0',
  },
  'an operation added between two': {
    code: changed({
      start: async (ctx) => {
        await ctx.step('load')
        await ctx.step('check')
        return ctx.step('price')
      },
    }),
    position: 1,
    recorded: 'step "price" in turn 1',
    asked: 'step "check" in turn 1',
  },
  'an operation added behind the last': {
    code: changed({ pay: async (ctx) => [await ctx.step('pay'), await ctx.step('thank')] }),
    position: 8,
    recorded: 'its completion',
    asked: 'step "thank" in turn 8',
  },
  'an operation added in parallel, before': {
    code: changed({ middle: (ctx) => Promise.all([ctx.step('check'), parts.middle(ctx)]) }),
    position: 4,
    recorded: 'step "poll" in turn 4',
    asked: 'step "check" in turn 2',
  },
  'an operation added in parallel, behind': {
    code: changed({ middle: (ctx) => Promise.all([parts.middle(ctx), ctx.step('check')]) }),
    position: 4,
    recorded: 'step "poll" in turn 4',
    asked: 'step "check" in turn 2',
  },
  'an unawaited operation added': {
    code: changed({
      loop: (ctx) => {
        void ctx.step('measure')
        return parts.loop(ctx)
      },
    }),
    position: 5,
    recorded: 'step "poll" in turn 5',
    asked: 'step "measure" in turn 4',
  },
  'the first operation removed': {
    code: changed({ start: (ctx) => ctx.step('price') }),
    position: 0,
    recorded: 'step "load" in turn 0',
    asked: 'step "price" in turn 0',
  },
  'an operation removed between two': {
    code: changed({ loop: () => Promise.resolve() }),
    position: 4,
    recorded: 'step "poll" in turn 4',
    asked: 'hitl_approval "approve" in turn 4',
  },
  'the last operation removed': {
    code: changed({ pay: () => Promise.resolve() }),
    position: 7,
    recorded: 'step "pay" in turn 7',
    asked: 'its completion',
  },
  'one of two parallel operations removed': {
    code: changed({ middle: (ctx) => ctx.step('reserve') }),
    position: 3,
    recorded: 'step "notify" in turn 2',
    asked: 'nothing',
  },
  'an operation renamed': {
    code: changed({ pay: (ctx) => ctx.step('pay out') }),
    position: 7,
    recorded: 'step "pay" in turn 7',
    asked: 'step "pay out" in turn 7',
  },
  'one of two parallel operations renamed': {
    code: changed({ middle: (ctx) => Promise.all([ctx.step('reserve'), ctx.step('tell')]) }),
    position: 3,
    recorded: 'step "notify" in turn 2',
    asked: 'step "tell" in turn 2',
  },
  'the names of two exchanged across turns': {
    code: changed({
      start: async (ctx) => {
        await ctx.step('price')
        return ctx.step('load')
      },
    }),
    position: 0,
    recorded: 'step "load" in turn 0',
    asked: 'step "price" in turn 0',
  },
  'one moved to a later turn': {
    code: changed({
      middle: async (ctx) => {
        await ctx.step('notify')
        await ctx.step('reserve')
      },
    }),
    position: 3,
    recorded: 'step "notify" in turn 2',
    asked: 'nothing',
  },
  'two that were one after the other put in parallel': {
    code: changed({ start: async (ctx) => (await Promise.all([ctx.step('load'), ctx.step('price')]))[1] }),
    position: 1,
    recorded: 'step "price" in turn 1',
    asked: 'step "price" in turn 0',
  },
  'two that were parallel put one after the other': {
    code: changed({
      middle: async (ctx) => {
        await ctx.step('reserve')
        await ctx.step('notify')
      },
    }),
    position: 3,
    recorded: 'step "notify" in turn 2',
    asked: 'nothing',
  },
  'the kind changed': {
    code: changed({ branch: (ctx) => ctx.step('approve') }),
    position: 6,
    recorded: 'hitl_approval "approve" in turn 6',
    asked: 'step "approve" in turn 6',
  },
  'the branch flipped': {
    code: changed({
      branch: (ctx, amount) => (amount === 'price!' ? ctx.step('refuse') : ctx.approve('approve')),
    }),
    position: 6,
    recorded: 'hitl_approval "approve" in turn 6',
    asked: 'step "refuse" in turn 6',
  },
  'the loop goes one more round': {
    code: changed({
      loop: async (ctx) => {
        for (let i = 0; i < 3; i++) await ctx.step('poll')
      },
    }),
    position: 6,
    recorded: 'hitl_approval "approve" in turn 6',
    asked: 'step "poll" in turn 6',
  },
  'the loop goes one round less': {
    code: changed({ loop: (ctx) => ctx.step('poll') }),
    position: 5,
    recorded: 'step "poll" in turn 5',
    asked: 'hitl_approval "approve" in turn 5',
  },
  'the rounds of the loop put in parallel': {
    code: changed({ loop: (ctx) => Promise.all([ctx.step('poll'), ctx.step('poll')]) }),
    position: 5,
    recorded: 'step "poll" in turn 5',
    asked: 'step "poll" (no. 2 of that name) in turn 4',
  },
  'an early return': {
    code: async (ctx) => [await ctx.step('load'), await ctx.step('price')],
    position: 3,
    recorded: 'step "notify" in turn 2',
    asked: 'its completion',
  },
  'an early throw': {
    code: changed({
      branch: async () => {
        throw new Error('changed')
      },
    }),
    position: 6,
    recorded: 'hitl_approval "approve" in turn 6',
    asked: 'its failure',
    thrown: { error: new Error('changed') },
  },
  'a failure where it completed': {
    code: async (ctx) => {
      await (changed({})(ctx) as Promise<unknown>)
      throw new Error('changed')
    },
    position: 8,
    recorded: 'its completion',
    asked: 'its failure',
    thrown: { error: new Error('changed') },
  },
  'a wait that was cut short by a race': {
    code: changed({ middle: (ctx) => Promise.race([ctx.step('reserve'), ctx.step('notify')]) }),
    position: 4,
    recorded: 'step "poll" in turn 4',
    asked: 'step "poll" in turn 3',
  },
  'a retry in the code, where a failure was caught': {
    code: changed({
      start: async (ctx) => {
        const order = await ctx.step('load')
        return order === 'load!' ? ctx.step('load') : ctx.step('price')
      },
    }),
    position: 1,
    recorded: 'step "price" in turn 1',
    asked: 'step "load" in turn 1',
  },
}

describe('a change of the code', () => {
  test('covers at least 25 kinds of changes', () => {
    expect(Object.keys(changes).length).toBeGreaterThanOrEqual(25)
  })

  test.each(Object.entries(changes))(
    '%s: detects the change in a complete log without executing an operation',
    async (_, change) => {
      const { trial, log } = await live(refund.code, inOrder(...refund.settled))
      log.end()
      const replayed = new Trial(change.code)
      const { code, ...found } = change
      expect(await replayed.deliver(log.events)).toEqual({ state: 'nondeterminism', ...found })
      expect(replayed.foreignMoves).toBe(0)
      expect((await replay(refund.code, log.events)).account).toEqual(trial.account)
    },
  )

  test.each(Object.entries(changes))(
    '%s: never continues the log wrongly, wherever the change happened',
    async (_, { code, ...found }) => {
      const { trial, log } = await live(refund.code, inOrder(...refund.settled))
      const cutAt = async (length: number): Promise<void> => {
        const prefix = log.events.slice(0, length)
        const edited = new Trial(code)
        const decision = await edited.deliver(prefix)
        // Either it is found, or all that is recorded so far is as the changed code would have it.
        if (decision.state === 'nondeterminism') expect(decision).toMatchObject({ position: found.position })
        else expect(decision.state).toMatch(/^(waiting|completed|failed)$/)

        const putBack = new Trial(refund.code)
        await putBack.deliver(prefix)
        for (const event of log.events.slice(length)) await putBack.deliver([event])
        expect(putBack.account).toEqual(trial.account)
      }
      await Promise.all(log.events.map(({ seq }) => cutAt(seq + 1)))
    },
  )

  test('detects a change repeatedly, and resumes the run when the code is restored', async () => {
    const { code } = changes['an operation renamed'] as Change
    const { trial, log } = await live(refund.code, inOrder(...refund.settled))
    const untilPaid = log.events.slice(0, -1)
    expect((await replay(code, log.events)).decision?.state).toBe('nondeterminism')
    const first = await replay(code, log.events)
    expect((await replay(code, log.events)).account).toEqual(first.account)

    const putBack = new Trial(refund.code)
    const waiting = await putBack.deliver(untilPaid)
    expect(waiting.state === 'waiting' && waiting.issued.map(describePending)).toEqual(['7 step pay 7.0'])
    await putBack.deliver(log.events.slice(-1))
    expect(putBack.account).toEqual(trial.account)
  })
})

const harmless: { readonly [what: string]: Procedure } = {
  'one more await before an operation': changed({ pay: async (ctx) => [await null, await ctx.step('pay')] }),
  'one more await before one of two parallel operations': changed({
    middle: (ctx) => Promise.all([hop(3).then(() => ctx.step('reserve')), ctx.step('notify')]),
  }),
  'parallel operations written in another order': changed({
    middle: (ctx) => Promise.all([ctx.step('notify'), ctx.step('reserve')]),
  }),
  'another wrapper around an operation': changed({
    branch: async (ctx) => {
      try {
        return await ctx.approve('approve')
      } finally {
        await hop(5)
      }
    },
  }),
  'a changed log line, and other variables': async (ctx) => {
    const whatWasLoaded = await ctx.step('load')
    const price = await ctx.step('price')
    process.nextTick(() => {})
    await Promise.allSettled([ctx.step('reserve'), ctx.step('notify')])
    let rounds = 2
    do await ctx.step('poll')
    while (--rounds > 0)
    await (price.startsWith('price') ? ctx.approve('approve') : ctx.step('refuse'))
    await ctx.step('pay')
    return whatWasLoaded
  },
}

describe('no change for the log', () => {
  test.each(Object.entries(harmless))('replays the log unchanged: %s', async (_, code) => {
    const { trial, log } = await live(refund.code, inOrder(...refund.settled))
    log.end()
    expect((await replay(code, log.events)).account.outcome).toBe(trial.account.outcome)
    for (const { seq } of log.events.slice(0, -1)) {
      const edited = new Trial(code)
      const lived = await goOn(edited, new Log(log.events.slice(0, seq + 1)))
      expect(lived.trial.account.outcome).toBe(trial.account.outcome)
      expect((await replay(refund.code, lived.log.events)).account.outcome).toBe(trial.account.outcome)
    }
  })
})
