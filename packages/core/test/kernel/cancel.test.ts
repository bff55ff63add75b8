import { describe, expect, test } from 'vitest'
import { Unreadable } from '../../src/kernel/operation.ts'
import { createScope } from '../../src/kernel/scope.ts'
import { Log } from './support/log.ts'
import { type Ops, type Procedure, replay, Trial } from './support/trial.ts'

const hop = async (times: number): Promise<void> => {
  for (let i = 0; i < times; i++) await null
}

/** Each branch notes how it ends, and cleans up behind a shield. */
const branches =
  (hops: readonly number[]): Procedure =>
  (ctx) =>
    Promise.all(
      hops.map(async (times, i) => {
        try {
          return await ctx.step(`work ${i}`)
        } catch (error) {
          await hop(times)
          ctx.note(`${i} ${String(error)}`)
          return shielded(ctx, (ctx) => ctx.step(`clean up ${i}`))
        }
      }),
    )

async function shielded<Result>(ctx: Ops, body: (ctx: Ops) => Promise<Result>): Promise<Result> {
  const scope = ctx.scopes.openShield(ctx.scopes.root)
  try {
    return await body(ctx.within(scope))
  } finally {
    ctx.scopes.closeShield(scope)
  }
}

async function cancelled(procedure: Procedure): Promise<{ trial: Trial; log: Log }> {
  const log = new Log()
  const trial = new Trial(procedure)
  await trial.deliver(log.events)
  await trial.deliver([log.settle(trial.find('work 1'))])
  await trial.deliver([log.cancel()])
  return { trial, log }
}

describe('a cancel', () => {
  test('rejects each pending operation of a cancelled run in its own turn', async () => {
    const { trial } = await cancelled(branches([3, 0, 0, 2]))
    expect(trial.notes).toEqual(['0 Error: cancelled', '2 Error: cancelled', '3 Error: cancelled'])
    expect(trial.issued.slice(4)).toEqual([
      '4 step clean up 0 3.0',
      '5 step clean up 2 4.0',
      '6 step clean up 3 5.0',
    ])
  })

  test('rejects in the same order however many hops a branch takes, live and in replay', async () => {
    const { trial, log } = await cancelled(branches([3, 0, 0, 2]))
    for (const name of ['clean up 2', 'clean up 0', 'clean up 3'])
      await trial.deliver([log.settle(trial.find(name))])
    expect(trial.decision?.state).toBe('completed')
    for (const hops of [
      [3, 0, 0, 2],
      [0, 0, 0, 0],
      [0, 0, 9, 1],
    ])
      expect((await replay(branches(hops), log.events)).account).toEqual(trial.account)
  })

  test('rejects the operations of a turn in an order that an extra await does not change', async () => {
    const procedure =
      (hopsOfA: number): Procedure =>
      (ctx) =>
        Promise.allSettled([
          hop(hopsOfA).then(() => ctx.step('a').catch(() => shielded(ctx, (ctx) => ctx.step('clean up a')))),
          ctx.step('b').catch(() => shielded(ctx, (ctx) => ctx.step('clean up b'))),
        ])
    const log = new Log()
    const trial = new Trial(procedure(3))
    await trial.deliver(log.events)
    await trial.deliver([log.cancel()])
    for (const name of ['clean up b', 'clean up a']) await trial.deliver([log.settle(trial.find(name))])
    expect(trial.issued.slice(2)).toEqual(['2 step clean up a 2.0', '3 step clean up b 3.0'])
    expect((await replay(procedure(0), log.events)).account.outcome).toBe(trial.account.outcome)
  })

  test('lists each closed operation once', async () => {
    const { trial, log } = await cancelled(branches([0, 0, 0]))
    expect(trial.decision).toMatchObject({
      state: 'waiting',
      issued: [{ position: 3 }, { position: 4 }],
      closed: [{ position: 0 }, { position: 2 }],
    })
    const next = await trial.deliver([log.settle(trial.find('clean up 0'))])
    expect(next).toEqual({ state: 'waiting', issued: [], closed: [] })
    expect((await replay(branches([0, 0, 0]), log.events)).decision).toMatchObject({
      closed: [{ position: 0 }, { position: 2 }],
    })
  })

  test('refuses operations issued after a cancel, without a position, each in its own turn', async () => {
    const procedure: Procedure = async (ctx) => {
      await ctx.step('a').catch(() => {})
      const late = ['b', 'c'].map((name) => ctx.step(name).catch((error) => ctx.note(`${name} ${error}`)))
      await Promise.all(late)
      await shielded(ctx, (ctx) => ctx.step('d'))
    }
    const log = new Log()
    const trial = new Trial(procedure)
    await trial.deliver(log.events)
    await trial.deliver([log.cancel()])
    expect(trial.notes).toEqual(['b Error: cancelled', 'c Error: cancelled'])
    expect(trial.issued).toEqual(['0 step a 0.0', '1 step d 4.0'])
    await trial.deliver([log.settle(trial.find('d'))])
    expect(trial.account.outcome).toBe('completed: undefined; left ')
    expect((await replay(procedure, log.events)).account).toEqual(trial.account)
  })

  test('ignores a second cancel', async () => {
    const { trial, log } = await cancelled(branches([0, 0, 0]))
    const { notes } = trial.account
    const before = [...notes]
    await trial.deliver([log.cancel()])
    expect(trial.notes).toEqual(before)
    expect(trial.pending.map(({ operation }) => operation.name)).toEqual(['clean up 0', 'clean up 2'])
  })

  test('has the time of the event that begins the turn of a cancel', async () => {
    const log = new Log()
    const times: number[] = []
    const trial = new Trial((ctx) => ctx.step('a').catch(() => times.push(ctx.now())))
    await trial.deliver(log.events)
    const event = log.cancel()
    await trial.deliver([event])
    expect(times).toEqual([event.at])
  })

  test('rejects all operations, even after one ends the procedure, so that each branch can clean up', async () => {
    const procedure: Procedure = (ctx) =>
      Promise.all([
        ctx.step('a'),
        ctx.step('b').catch(() => shielded(ctx, async (ctx) => ctx.note(await ctx.step('clean up b')))),
        ctx.step('c').catch(() => ctx.note('c is told')),
      ])
    const log = new Log()
    const trial = new Trial(procedure)
    await trial.deliver(log.events)
    await trial.deliver([log.cancel()])
    expect(trial.decision?.state).toBe('waiting')
    await trial.deliver([log.settle(trial.find('clean up b'))])
    expect(trial.notes).toEqual(['c is told', 'clean up b!'])
    expect(trial.account.outcome).toBe('failed: Error: cancelled; left ')
    expect((await replay(procedure, log.events)).account).toEqual(trial.account)
  })

  test('ignores what the log still says of a rejected operation', async () => {
    const log = new Log()
    const procedure: Procedure = async (ctx) => {
      await ctx.step('a').catch(() => ctx.note('rejected'))
      return shielded(ctx, (ctx) => ctx.step('b'))
    }
    const trial = new Trial(procedure)
    await trial.deliver(log.events)
    const late = trial.find('a')
    await trial.deliver([log.cancel()])
    await trial.deliver([log.attempt(late), log.settle(late), log.settle(trial.find('b'))])
    expect(trial.account.outcome).toBe('completed: "b!"; left ')
    expect((await replay(procedure, log.events)).account).toEqual(trial.account)
  })

  test('only begins a turn without a cancel reader', async () => {
    const log = new Log()
    const trial = new Trial((ctx) => ctx.step('a'), { readCancel: undefined as never })
    await trial.deliver(log.events)
    expect(await trial.deliver([log.cancel()])).toEqual({ state: 'waiting', issued: [], closed: [] })
    await trial.deliver([log.settle(trial.find('a'))])
    expect(trial.account.outcome).toBe('completed: "a!"; left ')
  })

  test('stops a run whose cancel event is unreadable', async () => {
    const log = new Log()
    const readCancel = () => {
      throw new Unreadable('no cancel')
    }
    const trial = new Trial((ctx) => ctx.step('a'), { readCancel })
    await trial.deliver(log.events)
    await trial.deliver([log.cancel()])
    expect(trial.account.outcome).toMatch(/^unreadable at -1: no cancel/)
  })
})

describe('a body that continues after a cancel', () => {
  const stubborn: Procedure = async (ctx) => {
    for (let i = 0; ; i++) await ctx.step('again').catch(() => ctx.note(String(i)))
  }

  test('ends a body by force at its thousandth refused operation, also in a replay', async () => {
    const log = new Log()
    const trial = new Trial(stubborn)
    await trial.deliver(log.events)
    await trial.deliver([log.cancel()])
    expect(trial.account.outcome).toBe('failed: Error: cancelled; left ')
    // The first was pending; of a thousand refused the last never settles.
    expect(trial.notes).toHaveLength(1000)
    expect((await replay(stubborn, log.events)).account).toEqual(trial.account)
  })

  test('does not end a body by force that only issues many operations', async () => {
    const often: Procedure = async (ctx) => {
      for (let i = 0; i < 999; i++) await ctx.step('again').catch(() => {})
      return 'done'
    }
    const trial = new Trial(often)
    const log = new Log()
    await trial.deliver([...log.events, log.cancel()])
    expect(trial.account.outcome).toBe('completed: "done"; left ')
  })
})

describe('a forced end', () => {
  const guarded: Procedure = async (ctx) => {
    try {
      await ctx.step('work')
    } finally {
      await shielded(ctx, (ctx) => ctx.step('clean up'))
      ctx.note('cleaned')
    }
  }

  test('breaks shields by force: pending operations never settle', async () => {
    const log = new Log()
    const trial = new Trial(guarded)
    await trial.deliver(log.events)
    await trial.deliver([log.cancel()])
    const late = trial.find('clean up')
    await trial.deliver([log.cancel('forced')])
    expect(trial.account.outcome).toBe('failed: Error: cancelled; left ')
    log.settle(late)
    log.end(true)
    expect((await replay(guarded, log.events)).account.outcome).toBe(trial.account.outcome)
    expect(trial.notes).toEqual([])
  })

  test('continues a forced end in a scope of its own', async () => {
    const log = new Log()
    const procedure: Procedure = async (ctx) => {
      const forced = new Promise<never>((_, reject) => ctx.scopes.onForced(reject))
      try {
        return await Promise.race([guarded(ctx), forced])
      } catch (error) {
        const own = ctx.within(createScope(null))
        ctx.note(`${await own.step('undo b')} after ${String(error)}`)
        ctx.note(await own.step('undo a'))
        throw error
      }
    }
    const trial = new Trial(procedure)
    await trial.deliver(log.events)
    await trial.deliver([log.cancel()])
    await trial.deliver([log.cancel('forced')])
    expect(trial.decision).toMatchObject({ closed: [{ operation: { name: 'clean up' } }] })
    await trial.deliver([log.settle(trial.find('undo b'))])
    await trial.deliver([log.cancel(), log.cancel('forced'), log.settle(trial.find('undo a'))])
    expect(trial.notes).toEqual(['undo b! after Error: cancelled', 'undo a!'])
    expect(trial.account.outcome).toBe('failed: Error: cancelled; left ')
    expect((await replay(procedure, log.events)).account).toEqual(trial.account)
  })
})
