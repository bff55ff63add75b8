import { expect, test } from 'vitest'
import { killFamilies, killFamilyAtEveryWrite } from './support/family.ts'
import { makeSqlitePlace } from './support/kill/sqlite-place.ts'

test('parents and children in different processes that are killed lose and repeat no child, in SQLite', async () => {
  const place = await makeSqlitePlace()
  await killFamilies({ place: place.location, parents: 20, kills: 8 })
  await place.remove()
})

test('a worker of parents killed at one of its writes loses and repeats neither child nor reply, in SQLite', async () => {
  // All of them in the long form.
  const { kills, faults } = await killFamilyAtEveryWrite({
    ...{ makePlace: makeSqlitePlace, kind: 'parent', when: 'after' },
    at: [8, 12],
  })
  expect(faults).toEqual([])
  expect(kills).toBeGreaterThan(0)
})
