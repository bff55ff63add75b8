import { test } from 'vitest'
import { followThroughKills } from './support/http/follow-through-kills.ts'
import { makePlace } from './support/kill/make-place.ts'
import { seed } from './support/seed.ts'

test(`a reader sees each number once and in order over 50 kills of the server, seed ${seed}`, async () => {
  const { location, remove } = await makePlace()
  await followThroughKills(location, 50, seed)
  await remove()
})
