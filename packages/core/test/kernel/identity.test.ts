import { describe, expect, test } from 'vitest'
import type { LogEvent } from '../../src/events/event.ts'
import { Unreadable } from '../../src/kernel/operation.ts'
import { Log } from './support/log.ts'
import { describePending, inOrder, live, type Procedure, replay, Trial } from './support/trial.ts'

const hop = async (times: number): Promise<void> => {
  for (let i = 0; i < times; i++) await null
}

/** Charges them all at once, each branch after some hops. */
function charge(
  hops: { readonly [who: string]: number },
  nameOf = (who: string) => `charge ${who}`,
): Procedure {
  return (ctx) =>
    Promise.all(
      Object.entries(hops).map(async ([who, times]) => {
        await hop(times)
        return `${who} <- ${await ctx.step(nameOf(who))}`
      }),
    )
}

describe('an operation', () => {
  test('takes the position of an operation synchronously', async () => {
    const seen: string[] = []
    const trial: Trial = new Trial((ctx) => {
      const promise = ctx.step('a')
      seen.push(...trial.issued)
      return promise
    })
    await trial.deliver(new Log().events)
    expect(seen).toEqual(['0 step a 0.0'])
  })

  test('returns a plain promise of the realm', async () => {
    const made: unknown[] = []
    await live((ctx) => {
      const promise = ctx.step('a')
      made.push(Object.getPrototypeOf(promise) === Promise.prototype, Reflect.ownKeys(promise))
      return promise
    })
    expect(made).toEqual([true, []])
  })

  test('identifies an operation by turn, kind, name and number', async () => {
    const { trial } = await live(async (ctx) => {
      await Promise.all([ctx.step('a'), ctx.step('b'), ctx.sleep('a'), ctx.step('a'), ctx.step('b')])
      await Promise.all([ctx.step('a'), ctx.step('a')])
    })
    expect(trial.issued).toEqual([
      '0 step a 0.0',
      '1 step b 0.0',
      '2 timer a 0.0',
      '3 step a 0.1',
      '4 step b 0.1',
      '5 step a 5.0',
      '6 step a 5.1',
    ])
  })

  test('lists an operation once, with the time of its turn', async () => {
    const log = new Log()
    const trial = new Trial(async (ctx) => {
      void ctx.sleep('long')
      await ctx.step('a')
      await ctx.step('b')
    })
    const started = log.events[0]?.at
    expect(await trial.deliver(log.events)).toMatchObject({
      issued: [
        { position: 0, issuedAt: started },
        { position: 1, issuedAt: started },
      ],
    })
    const settled = log.settle(trial.find('a'))
    expect(await trial.deliver([settled])).toMatchObject({ issued: [{ position: 2, issuedAt: settled.at }] })
    expect(trial.execution.decide()).toMatchObject({ issued: [] })
  })

  test('does not list an operation that the log has settled', async () => {
    const { log } = await live(async (ctx) => {
      for (let i = 0; i < 3000; i++) await ctx.step(`step ${i}`)
    })
    const trial = new Trial(async (ctx) => {
      void ctx.sleep('long')
      for (let i = 0; i < 3000; i++) await ctx.step(`step ${i}`)
      await ctx.step('new')
    })
    const events = log.events.map((event) => ({
      ...event,
      position: event.kind === null ? -1 : event.position + 1,
    }))
    const decision = await trial.deliver(events)
    expect(decision.state === 'waiting' && decision.issued.map(describePending)).toEqual([
      '0 timer long 0.0',
      '3001 step new 3000.0',
    ])
  })
})

describe('operations that have swapped positions', () => {
  test('gives each operation its own result at the position in the log', async () => {
    const { trial, log } = await live(
      charge({ amy: 0, bob: 0, cleo: 0 }),
      inOrder('charge bob', 'charge amy', 'charge cleo'),
    )
    for (const hops of [
      { amy: 1, bob: 0, cleo: 0 },
      { amy: 2, bob: 1, cleo: 0 },
      { amy: 1, bob: 2, cleo: 0 },
    ]) {
      const edited = await replay(charge(hops), log.events)
      expect(edited.account.outcome).toBe(trial.account.outcome)
    }
  })

  test('keeps swapped positions, so that the old code finds later events too', async () => {
    const before = charge({ amy: 0, bob: 0, cleo: 0 })
    const after = charge({ amy: 2, bob: 1, cleo: 0 })
    const log = new Log()
    const first = new Trial(before)
    await first.deliver(log.events)
    await first.deliver([log.settle(first.find('charge amy'))])

    const edited = new Trial(after)
    await edited.deliver(log.events)
    expect(edited.pending.map(describePending).sort()).toEqual([
      '1 step charge bob 0.0',
      '2 step charge cleo 0.0',
    ])
    await edited.deliver([log.settle(edited.find('charge cleo'))])
    await edited.deliver([log.settle(edited.find('charge bob'))])
    for (const code of [before, after])
      expect((await replay(code, log.events)).account.outcome).toBe(edited.account.outcome)
  })

  test('recognizes an operation by events that settle nothing', async () => {
    const log = new Log()
    const first = new Trial(charge({ amy: 0, bob: 0 }))
    await first.deliver(log.events)
    log.attempt(first.find('charge bob'))
    const edited = new Trial(charge({ amy: 1, bob: 0 }))
    await edited.deliver(log.events)
    expect(edited.pending.map(describePending).sort()).toEqual([
      '0 step charge amy 0.0',
      '1 step charge bob 0.0',
    ])
  })

  test('does not swap operations of different turns', async () => {
    const { log } = await live(async (ctx) => {
      await ctx.step('a')
      await ctx.step('b')
    })
    const edited = await replay(async (ctx) => {
      await Promise.all([ctx.step('b'), ctx.step('a')])
    }, log.events)
    expect(edited.account.outcome).toBe('nondeterminism at 1: step "b" in turn 1, not step "b" in turn 0')
  })

  test('keeps the results of two operations with an equal name when others move past them', async () => {
    const procedure =
      (hops: number): Procedure =>
      (ctx) =>
        Promise.all([
          hops === 0 ? ctx.step('other') : hop(hops).then(() => ctx.step('other')),
          ctx.step('charge'),
          ctx.step('charge'),
        ])
    const { trial, log } = await live(procedure(0), (pending, log) => {
      const next = pending.at(-1)
      if (next !== undefined) log.settle(next, `result of ${describePending(next)}`)
    })
    expect((await replay(procedure(1), log.events)).account.outcome).toBe(trial.account.outcome)
  })

  test('exchanges the results of operations with an equal name', async () => {
    const choose = (log: Log, trial: Trial) => {
      const [amy, bob] = trial.pending
      if (amy === undefined || bob === undefined) throw new Error('both are to be pending')
      return [log.settle(bob, 'receipt of bob'), log.settle(amy, 'receipt of amy')]
    }
    const outcomeOf = async (nameOf?: (who: string) => string): Promise<string> => {
      const log = new Log()
      const trial = new Trial(charge({ amy: 0, bob: 0 }, nameOf))
      await trial.deliver(log.events)
      await trial.deliver(choose(log, trial))
      return (await replay(charge({ amy: 1, bob: 0 }, nameOf), log.events)).account.outcome
    }
    expect(await outcomeOf()).toBe('completed: ["amy <- receipt of amy","bob <- receipt of bob"]; left ')
    expect(await outcomeOf(() => 'charge')).toBe(
      'completed: ["amy <- receipt of bob","bob <- receipt of amy"]; left ',
    )
  })
})

describe('the results that a procedure receives', () => {
  test('reads a result from the recorded event in every execution', async () => {
    const made: unknown[] = []
    const read = ({ payload }: LogEvent) => {
      const value = { items: [...(payload ?? [])] }
      made.push(value)
      return value
    }
    const procedure: Procedure = async (ctx) => {
      const value = (await ctx.issue({ kind: 'step', name: 'a', read })) as { items: number[] }
      value.items.push(1)
      return value.items.length
    }
    const { trial, log } = await live(procedure, (pending, log) => void log.settle(pending[0] as never, 'xy'))
    const again = await replay(procedure, log.events)
    expect(trial.account.outcome).toBe('completed: 3; left ')
    expect(again.account).toEqual(trial.account)
    expect(made).toHaveLength(2)
    expect(made[0]).not.toBe(made[1])
  })

  test('rejects an operation if reading its result throws', async () => {
    const procedure: Procedure = (ctx) => ctx.step('a').catch((error) => `caught ${error}`)
    const { trial } = await live(procedure, (pending, log) => void log.fail(pending[0] as never, 'refused'))
    expect(trial.account.outcome).toBe('completed: "caught Error: refused"; left ')
  })

  test('stops the execution at unreadable bytes, which the procedure does not see', async () => {
    const log = new Log()
    const trial = new Trial(async (ctx) => {
      const unreadable = new Unreadable('cut off')
      const read = () => {
        throw unreadable
      }
      await ctx.issue({ kind: 'step', name: 'a', read }).finally(() => ctx.note('settled'))
    })
    await trial.deliver(log.events)
    await trial.deliver([log.settle(trial.pending[0] as never), log.end()])
    expect(trial.account).toMatchObject({ notes: [], outcome: 'unreadable at 0: cut off' })
  })
})
