import { expect, test } from 'vitest'
import { killLives } from './support/kill/life/kill-lives.ts'
import { makeSqlitePlace } from './support/kill/sqlite-place.ts'

test('a worker killed as a run continues loses and repeats nothing', async () => {
  // All of them in the long form.
  const { killed, problems } = await killLives({ makePlace: makeSqlitePlace, when: 'after', at: [14] })
  expect(problems).toEqual([])
  expect(killed).toBe(1)
})
