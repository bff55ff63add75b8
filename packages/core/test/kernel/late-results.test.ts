import { describe, expect, test } from 'vitest'
import { Unreadable } from '../../src/kernel/operation.ts'
import { createScope } from '../../src/kernel/scope.ts'
import { Log, textOf } from './support/log.ts'
import { type Procedure, Trial } from './support/trial.ts'

/** Two operations of which the first fails; their scope is closed, and what the log has of the second is read late. */
const pair: Procedure = async (ctx) => {
  const late = (name: string) =>
    ctx.issue({
      kind: 'step',
      name,
      read: () => ctx.note(`${name} read`),
      readLate: (event) => ctx.note(`${name} late: ${textOf(event)}`),
    })
  late('beside').catch(() => ctx.note('beside rejected'))
  await ctx.step('fail').catch(() => ctx.scopes.close([ctx.scopes.root], () => new Error('closed')))
  const own = createScope(null)
  await new Promise<void>((resolve) => ctx.scopes.whenQuiet(true, resolve))
  ctx.note('quiet')
  await ctx.within(own).step('undo')
}

const account = {
  issued: ['1 step fail 0.0', '2 step undo 3.0'],
  notes: ['beside rejected', 'beside late: beside!', 'quiet'],
  outcome: 'completed: undefined; left ',
}

async function record(): Promise<{ log: Log; trial: Trial }> {
  const log = new Log()
  const trial = new Trial(pair)
  await trial.deliver(log.events)
  const [beside, fail] = [trial.find('beside'), trial.find('fail')]
  await trial.deliver([log.fail(fail), log.settle(beside)])
  await trial.deliver([log.settle(trial.find('undo'))])
  return { log, trial }
}

describe('a result recorded with the event that closed its operation', () => {
  test('is read before the callback that waits for it, and begins no turn', async () => {
    expect((await record()).trial.account).toEqual(account)
  })

  test('is read in a replay, wherever its pages end', async () => {
    const { events } = (await record()).log
    for (let size = 1; size <= events.length; size++) {
      const trial = new Trial(pair)
      for (let from = 0; from < events.length; from += size)
        await trial.deliver(events.slice(from, from + size), from + size < events.length)
      expect(trial.account).toEqual(account)
    }
  })

  test('is not read if it is a failure', async () => {
    const log = new Log()
    const trial = new Trial(pair)
    await trial.deliver(log.events)
    const [beside, fail] = [trial.find('beside'), trial.find('fail')]
    await trial.deliver([log.fail(fail), log.fail(beside)])
    expect(trial.notes).toEqual(['beside rejected', 'quiet'])
  })

  test('stops the run if its bytes are unreadable', async () => {
    const log = new Log()
    const trial = new Trial(async (ctx) => {
      const readLate = () => {
        throw new Unreadable('no bytes')
      }
      ctx.issue({ kind: 'step', name: 'beside', read: () => {}, readLate }).catch(() => {})
      await ctx.step('fail').catch(() => ctx.scopes.close([ctx.scopes.root], () => new Error('closed')))
      await new Promise<void>((resolve) => ctx.scopes.whenQuiet(true, resolve))
    })
    await trial.deliver(log.events)
    const [beside, fail] = [trial.find('beside'), trial.find('fail')]
    expect(await trial.deliver([log.fail(fail), log.settle(beside)])).toMatchObject({
      state: 'unreadable',
      position: 0,
    })
  })
})

describe('a result that the log has behind the end', () => {
  const procedure =
    (read: () => void): Procedure =>
    async (ctx) => {
      void ctx.issue({ kind: 'step', name: 'beside', read: () => {}, readLate: read })
      await ctx.step('last')
    }

  test('is read once', async () => {
    let count = 0
    const log = new Log()
    const trial = new Trial(procedure(() => count++))
    await trial.deliver(log.events)
    const [beside, last] = [trial.find('beside'), trial.find('last')]
    await trial.deliver([log.settle(last), log.settle(beside)])
    await trial.deliver([])
    expect([count, trial.account.outcome]).toEqual([1, 'completed: undefined; left beside'])
  })

  test('does not stop the run if its bytes are unreadable', async () => {
    const log = new Log()
    const trial = new Trial(
      procedure(() => {
        throw new Unreadable('no bytes')
      }),
    )
    await trial.deliver(log.events)
    const [beside, last] = [trial.find('beside'), trial.find('last')]
    expect(await trial.deliver([log.settle(last), log.settle(beside)])).toMatchObject({ state: 'completed' })
  })
})
