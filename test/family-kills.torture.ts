import { expect, test } from 'vitest'
import { killFamilyAtEveryWrite } from './support/family.ts'
import { killWhileHeld } from './support/held-and-killed.ts'
import { makePostgresPlace } from './support/kill/postgres-place.ts'
import { makeSqlitePlace } from './support/kill/sqlite-place.ts'

const stores = [
  { name: 'SQLite', makePlace: makeSqlitePlace, moments: ['before', 'after'] },
  { name: 'PostgreSQL', makePlace: makePostgresPlace, moments: ['before', 'sent', 'after'] },
] as const
const all = stores.flatMap(({ name, makePlace, moments }) =>
  moments.flatMap((when) => (['parent', 'child'] as const).map((kind) => ({ name, makePlace, when, kind }))),
)

test.each(all)(
  'a worker of $kind runs killed $when any of its writes loses and repeats neither child nor reply, in $name',
  async ({ makePlace, when, kind }) => {
    const { kills, faults } = await killFamilyAtEveryWrite({ makePlace, when, kind })
    expect(faults).toEqual([])
    expect(kills).toBeGreaterThan(8)
  },
)

test('control: with children that are created before the unit of their parent, only a kill leaves a fault', async () => {
  const killed = (at: readonly number[]) =>
    killFamilyAtEveryWrite({
      ...{ makePlace: makeSqlitePlace, kind: 'parent', when: 'after', env: { CREATE: 'early' }, at },
    })
  const never = 10_000
  expect(await killed([never])).toEqual({ kills: 0, faults: [] })
  const { kills, faults } = await killed([1, 2, 3, 4, 5, 6, 7, 8])
  expect(kills).toBeGreaterThan(0)
  expect(faults).not.toEqual([])
})

test.each(stores)(
  'a worker killed while its run holds clients back lets them in again, in $name',
  async ({ makePlace }) => {
    const place = await makePlace()
    await killWhileHeld(place.location)
    await place.remove()
  },
)
