import { describe, expect, test } from 'vitest'
import { Log } from './support/log.ts'
import { type Account, type Procedure, recover, replay, Trial } from './support/trial.ts'

/** Approved or timed out, and then a different way for each. */
const procedure: Procedure = async (ctx) => {
  await ctx.step('load')
  const approved = async () => {
    const by = await ctx.approve('approve')
    await new Promise<void>((resolve) => process.nextTick(resolve))
    return `approved by ${by}`
  }
  const timedOut = async () => {
    await ctx.sleep('an hour')
    return 'timed out'
  }
  const verdict = await Promise.race([approved(), timedOut()])
  if (verdict === 'timed out') await ctx.step('send back')
  else await ctx.step('pay')
  await ctx.step('notify')
  return verdict
}

const ways = {
  approved: {
    order: ['load', 'approve', 'an hour'],
    then: ['pay', 'notify'],
    outcome: '"approved by approve!"',
  },
  'timed out': {
    order: ['load', 'an hour', 'approve'],
    then: ['send back', 'notify'],
    outcome: '"timed out"',
  },
}

/** Of what is written as `2 timer an hour 1.0`. */
const nameOf = (issued: string): string => issued.split(' ').slice(2, -1).join(' ')

/** The loser settles right behind the winner, or at any later time, or never. */
async function decideRace(
  order: readonly string[],
  then: readonly string[],
  loserAfter: number,
): Promise<{ log: Log; account: Account }> {
  const log = new Log()
  const trial = new Trial(procedure)
  await trial.deliver(log.events)
  const [first, winner, loser] = order as [string, string, string]
  await trial.deliver([log.settle(trial.find(first))])
  const late = trial.find(loser)
  for (const [i, name] of [winner, ...then].entries()) {
    await trial.deliver([log.settle(trial.find(name))])
    if (i === loserAfter) await trial.deliver([log.settle(late)])
  }
  return { log, account: trial.account }
}

describe.each(Object.entries(ways))('an approval racing a sleep: %s', (_, { order, then, outcome }) => {
  test.each([0, 1, 2, 3])(
    'replays the same winner after a crash behind every event, with the other settling %i events later',
    async (loserAfter) => {
      const { log, account } = await decideRace(order, then, loserAfter)
      const left = loserAfter < 2 ? '' : order[2]
      expect(account.outcome).toBe(`completed: ${outcome}; left ${left}`)
      expect(account.issued.map(nameOf)).toEqual(['load', 'approve', 'an hour', ...then])

      expect((await replay(procedure, log.events)).account).toEqual(account)
      for (const { seq } of log.events)
        expect((await recover(procedure, log.events, seq)).trial.account).toEqual(account)
    },
  )

  test('replays the same winner with both in one commit', async () => {
    const log = new Log()
    const trial = new Trial(procedure)
    await trial.deliver(log.events)
    await trial.deliver([log.settle(trial.find('load'))])
    const [winner, loser] = order.slice(1).map((name) => log.settle(trial.find(name)))
    if (winner === undefined || loser === undefined) throw new Error('both are to be pending')
    await trial.deliver([winner, loser])
    for (const name of then) await trial.deliver([log.settle(trial.find(name))])
    expect(trial.account.outcome).toBe(`completed: ${outcome}; left `)
    for (const { seq } of log.events)
      expect((await recover(procedure, log.events, seq)).trial.account).toEqual(trial.account)
  })
})
