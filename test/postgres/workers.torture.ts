import { afterAll, beforeAll, expect, test } from 'vitest'
import { PostgresServer } from '../../scripts/postgres/server.ts'
import type { KillMoment } from '../support/kill/sabotage.ts'
import { setScene } from './scene.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await PostgresServer.start()
})
afterAll(() => server.remove())

const moments: readonly KillMoment[] = ['before', 'sent', 'after']

test.each(moments)(
  'a worker killed %s any of its writes leaves a run that the next one finishes',
  async (moment) => {
    let deaths = 0
    while (await hasDied(deaths + 1, moment)) deaths++
    // Registration, sweeps and claims, and a commit for each batch of events.
    expect(deaths).toBeGreaterThan(10)
  },
)

/** One run, by a worker that kills itself around its n-th write, and by another that finishes what is left. */
async function hasDied(n: number, moment: KillMoment): Promise<boolean> {
  const { client, order, startWorker, check } = await setScene(server.url())
  const id = `killed ${moment} write ${n}`
  const run = await client.run(order, { n: 5 }, { id })
  await run.signal('paid', { cents: 105 })
  await client.inbox.answer({ run: id, key: 'go on' }, { approved: true }, { as: 'user:ana' })

  const first = await startWorker({ env: { KILL_AT: `${n}:${moment}` } })
  await Promise.race([first.ended(), run.result()])
  const isDead = !first.isRunning
  await first.kill()
  const second = await startWorker()
  await run.result()
  await second.kill()
  const { problems } = await check({
    runs: new Set([id]),
    answers: new Map([[id, 'user:ana']]),
    signals: new Map([[id, 105]]),
  })
  expect(problems, id).toEqual([])
  return isDead
}
