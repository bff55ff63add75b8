import { setTimeout as wait } from 'node:timers/promises'
import { type Client, PawlError } from '@pawl/core'
import type { Acknowledged } from '../check.ts'
import { type Driving, driveAll } from '../drive.ts'
import { fateOf, makeTrip } from './trip.ts'

/** Longer than a trip takes up to its race, if no worker is killed. */
const maxDelayMs = 250

/**
 * Starts trips, pays, answers, cancels those whose fate it is at any moment, and some others as well, and waits until each has
 * ended.
 */
export async function driveTrips(driving: Driving): Promise<void> {
  const trip = makeTrip('')
  await driveAll(driving, async (n) => {
    const id = `trip ${n}`
    const run = await driving.client.run(trip, { n }, { id })
    driving.acknowledged.runs.add(id)
    const ended = run.result({ timeout: '5m' }).then(
      () => {},
      () => {},
    )
    await Promise.all([ended, ...act(driving, n, id, ended)])
  })
}

/** What happens to a trip from outside. One that is to be cancelled gets nothing else, so that nothing else can end it. */
function act(
  { client, random, acknowledged }: Driving,
  n: number,
  id: string,
  ended: Promise<void>,
): readonly Promise<void>[] {
  const run = client.get(makeTrip(''), id)
  const cancel = async (): Promise<void> => {
    await wait(random() * maxDelayMs)
    await run.cancel('changed my mind', { by: 'user:ana' })
    acknowledged.cancels.add(id)
  }
  if (fateOf(n) === 'cancel') return random() < 0.3 ? [cancel(), cancel()] : [cancel()]
  const pay = async (): Promise<void> => {
    const cents = 100 + n
    try {
      await run.signal('paid', { cents }, { id: 'payment' })
      acknowledged.signals.set(id, cents)
    } catch (error) {
      if (!PawlError.is(error, 'run-ended')) throw error
    }
  }
  const answerAndPay = async (): Promise<void> => {
    if (random() < 0.6) {
      // It may be open too shortly to be seen.
      const { items } = await seekAsk(client, id, ended)
      if (items.length > 0 && random() < 0.5) await Promise.all([answer(client, acknowledged, id), pay()])
      else if (items.length > 0) await answer(client, acknowledged, id)
    }
    await pay()
  }
  return fateOf(n) !== 'complete' && random() < 0.4 ? [answerAndPay(), cancel()] : [answerAndPay()]
}

/** Looks for the ask of a run until it is there, the run has ended, or the race that asks is over. */
async function seekAsk(client: Client, run: string, ended: Promise<void>) {
  let isOver = false
  void ended.then(() => {
    isOver = true
  })
  for (;;) {
    const open = await client.inbox.list({ run })
    const { execution_log } = await client.log(run)
    if (open.items.length > 0 || isOver || execution_log.some(({ type }) => type === 'hitl_approval'))
      return open
    await wait(5)
  }
}

async function answer(client: Client, acknowledged: Acknowledged, id: string): Promise<void> {
  try {
    await client.inbox.answer({ run: id, key: 'credit' }, { approved: true }, { as: 'user:bob' })
    acknowledged.answers.set(id, 'user:bob')
  } catch (error) {
    if (!PawlError.is(error, 'ask-closed') && !PawlError.is(error, 'run-ended')) throw error
  }
}
