import { describe, expect, test } from 'vitest'
import { Log } from './support/log.ts'
import { type Procedure, replay, Trial } from './support/trial.ts'

const hop = async (times: number): Promise<void> => {
  for (let i = 0; i < times; i++) await null
}

/** Each branch notes how it ends, and issues something more. */
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
          return ctx.step(`clean up ${i}`)
        }
      }),
    )

async function cancelled(procedure: Procedure): Promise<{ trial: Trial; log: Log }> {
  const log = new Log()
  const trial = new Trial(procedure)
  await trial.deliver(log.events)
  await trial.deliver([log.settle(trial.find('work 1'))])
  await trial.deliver([log.cancel()])
  return { trial, log }
}

describe('a cancel', () => {
  test('rejects each pending operation in a turn of its own, one after the other', async () => {
    const { trial } = await cancelled(branches([3, 0, 0, 2]))
    expect(trial.notes).toEqual(['0 Error: cancelled', '2 Error: cancelled', '3 Error: cancelled'])
    expect(trial.issued.slice(4)).toEqual([
      '4 step clean up 0 3.0',
      '5 step clean up 2 4.0',
      '6 step clean up 3 5.0',
    ])
  })

  test('means the same however many hops a branch takes, live and in replay', async () => {
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

  test('takes those of a turn in an order that one more await does not change', async () => {
    const procedure =
      (hopsOfA: number): Procedure =>
      (ctx) =>
        Promise.allSettled([
          hop(hopsOfA).then(() => ctx.step('a').catch(() => ctx.step('clean up a'))),
          ctx.step('b').catch(() => ctx.step('clean up b')),
        ])
    const log = new Log()
    const trial = new Trial(procedure(3))
    await trial.deliver(log.events)
    await trial.deliver([log.cancel()])
    for (const name of ['clean up b', 'clean up a']) await trial.deliver([log.settle(trial.find(name))])
    expect(trial.issued.slice(2)).toEqual(['2 step clean up a 2.0', '3 step clean up b 3.0'])
    expect((await replay(procedure(0), log.events)).account.outcome).toBe(trial.account.outcome)
  })

  test('leaves what is issued in its turns alone', async () => {
    const { trial } = await cancelled(branches([0, 0, 0]))
    expect(trial.pending.map(({ operation }) => operation.name)).toEqual(['clean up 0', 'clean up 2'])
    expect(trial.decision).toMatchObject({ state: 'waiting', issued: [{ position: 3 }, { position: 4 }] })
  })

  test('has a time, as every event that begins a turn', async () => {
    const log = new Log()
    const times: number[] = []
    const trial = new Trial((ctx) => ctx.step('a').catch(() => times.push(ctx.now())))
    await trial.deliver(log.events)
    const event = log.cancel()
    await trial.deliver([event])
    expect(times).toEqual([event.at])
  })

  test('stops where the procedure ends', async () => {
    const log = new Log()
    const trial = new Trial((ctx) => Promise.all(['a', 'b', 'c'].map((name) => ctx.step(name))))
    await trial.deliver(log.events)
    await trial.deliver([log.cancel()])
    expect(trial.account.outcome).toBe('failed: Error: cancelled; left b,c')
  })

  test('makes what the log still says of a rejected operation invisible', async () => {
    const log = new Log()
    const procedure: Procedure = async (ctx) => {
      await ctx.step('a').catch(() => ctx.note('rejected'))
      return ctx.step('b')
    }
    const trial = new Trial(procedure)
    await trial.deliver(log.events)
    const late = trial.find('a')
    await trial.deliver([log.cancel()])
    await trial.deliver([log.attempt(late), log.settle(late), log.settle(trial.find('b'))])
    expect(trial.account.outcome).toBe('completed: "b!"; left ')
    expect((await replay(procedure, log.events)).account).toEqual(trial.account)
  })

  test('without a word for it only begins a turn', async () => {
    const log = new Log()
    const trial = new Trial((ctx) => ctx.step('a'), { cancelError: undefined as never })
    await trial.deliver(log.events)
    expect(await trial.deliver([log.cancel()])).toEqual({ state: 'waiting', issued: [] })
    await trial.deliver([log.settle(trial.find('a'))])
    expect(trial.account.outcome).toBe('completed: "a!"; left ')
  })
})
