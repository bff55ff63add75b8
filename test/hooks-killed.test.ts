import { expect, test } from 'vitest'
import { killHookServerAtEveryWrite } from './support/kill/hooks.ts'
import { makeSqlitePlace } from './support/kill/sqlite-place.ts'

test('a server killed after some of its transactions delivers each event at least once, and starts each delivery once', async () => {
  // Registration, claims, steps, and the start and end of each delivery.
  expect(await killHookServerAtEveryWrite(makeSqlitePlace, 'after', 5)).toBeGreaterThan(1)
})
