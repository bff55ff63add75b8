import { expect, test } from 'vitest'
import { play } from './play.ts'
import { World } from './world.ts'

const first = Number(process.env['SEED'] ?? 1)

test('whatever workers, networks and people do, all that was acknowledged is kept, and all runs end as they began', async () => {
  const {
    faults,
    bodies,
    events,
    takeovers,
    found,
    cancelled,
    failed,
    undos,
    withoutCode,
    children,
    replies,
    consents,
    continued,
    checkpoints,
    retried,
  } = await play(Array.from({ length: 100 }, (_, i) => first + i))
  expect(faults).toEqual([])
  // Something happened there.
  expect(Math.min(bodies, takeovers)).toBeGreaterThan(500)
  expect(events).toBeGreaterThan(5_000)
  // Runs that kill their workers, except runs that end before that.
  expect(found).toBeGreaterThan(0)
  expect(Math.min(cancelled, failed)).toBeGreaterThan(30)
  expect(undos).toBeGreaterThan(15)
  expect(Math.min(children, replies)).toBeGreaterThan(50)
  expect(consents).toBeGreaterThan(10)
  expect(Math.min(continued, checkpoints, retried)).toBeGreaterThan(50)
  // A run whose code no worker has is the exception.
  expect(withoutCode).toBeLessThan(cancelled)
})

test('a seed plays the same world again', async () => {
  const playOnce = async (): Promise<unknown> => {
    const world = new World({ seed: 71, runs: 8, rounds: 600 })
    await world.play()
    const runs = [...world.tables.runs.values()].map(({ id, state, epoch, events }) => [
      ...[id, state, epoch],
      events.length,
    ])
    return { runs, diary: world.diary }
  }
  const first = await playOnce()
  for (let again = 0; again < 2; again++) expect(await playOnce()).toEqual(first)
})
