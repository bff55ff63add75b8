import { expect, test } from 'vitest'
import { setScene } from './scene.ts'

const runs = Array.from({ length: 1_000 }, (_, n) => ({ id: `order ${n}`, n, cents: 100 + n }))

test('one of three workers is killed in the middle of 1,000 runs, and nothing is lost or repeated', async () => {
  const scene = await setScene()
  const { client, order, place } = scene
  const [doomed] = await Promise.all([0, 1, 2].map(() => scene.startWorker({ lease: '3s', stepMs: 20 })))
  const feed = async ({ id, n, cents }: (typeof runs)[number]) => {
    const run = await client.run(order, { n }, { id })
    await Promise.all([
      run.signal('paid', { cents }),
      client.inbox.answer({ run: id, key: 'go on' }, { approved: true }, { as: 'user:ana' }),
    ])
  }
  const countEnded = async () => {
    const { rows } = await place.database.owner.query<{ count: number }>(
      'select count(*)::int from pawl.runs where state <> 0 or mark <> 0',
    )
    return rows[0]?.count
  }
  // Beside the start of the runs: on a fast machine the first of them end before the last has begun.
  const fed = Promise.all(runs.map(feed))
  await expect
    .poll(async () => (await countEnded())! >= runs.length / 10 && (await scene.countOwned(doomed!)) > 0, {
      interval: 5,
    })
    .toBe(true)
  await doomed!.kill()
  expect(await countEnded()).toBeLessThan(runs.length)
  await fed
  await expect.poll(countEnded).toBe(runs.length)
  const { problems, repeats } = await scene.check({
    runs: new Set(runs.map(({ id }) => id)),
    answers: new Map(runs.map(({ id }) => [id, 'user:ana'])),
    signals: new Map(runs.map(({ id, cents }) => [id, cents])),
  })
  expect(problems).toEqual([])
  // Only what the dead worker did and could not record any more was done again.
  expect(repeats.filter(({ pids: [first] }) => first !== doomed?.pid)).toEqual([])
})
