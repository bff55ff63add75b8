import { expect, test } from 'vitest'
import { checkCuts } from './support/cuts.ts'

test('a copy cut at any position replays, and begins nothing whose result it keeps', async () => {
  const { cuts, keptBehind, repeated } = await checkCuts(500)
  expect(cuts).toBeGreaterThan(1_000)
  expect(keptBehind).toBeGreaterThan(100)
  expect(repeated).toBeGreaterThan(1_000)
})

test('control: a copy that keeps all results but one does not replay', async () => {
  const allButOne = checkCuts(100, [
    (events, position) =>
      events.filter(
        (event) => event.type !== 'ended' && !(event.type === 'settled' && event.position === position),
      ),
  ])
  await expect(allButOne).rejects.toThrow('Property failed')
})
