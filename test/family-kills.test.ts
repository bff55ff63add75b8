import { expect, test } from 'vitest'
import { killFamilies, killFamilyAtEveryWrite } from './support/family.ts'
import { killMoment, makePlace } from './support/kill/make-place.ts'

test('parents and children in different processes that are killed lose and repeat no child', async () => {
  const place = await makePlace()
  await killFamilies({ place: place.location, parents: 20, kills: 8 })
  await place.remove()
})

test('a worker of parents killed at one of its writes loses and repeats neither child nor reply', async () => {
  // All of them in the long form.
  const { kills, faults } = await killFamilyAtEveryWrite({
    ...{ makePlace, kind: 'parent', when: killMoment },
    at: [8, 12],
  })
  expect(faults).toEqual([])
  expect(kills).toBeGreaterThan(0)
})
