import { expect, test } from 'vitest'
import { killFamilies, killFamilyAtEveryWrite } from '../support/family.ts'
import { makePostgresPlace } from '../support/kill/postgres-place.ts'

test('parents and children in different processes that are killed lose and repeat no child, in PostgreSQL', async () => {
  const place = await makePostgresPlace()
  await killFamilies({ place: place.location, parents: 20, kills: 8 })
  await place.remove()
})

test('a worker of parents killed at one of its writes loses and repeats neither child nor reply, in PostgreSQL', async () => {
  // All of them in the long form.
  const { kills, faults } = await killFamilyAtEveryWrite({
    ...{ makePlace: makePostgresPlace, kind: 'parent', when: 'sent' },
    at: [8, 12],
  })
  expect(faults).toEqual([])
  expect(kills).toBeGreaterThan(0)
})
