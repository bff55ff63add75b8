import { test } from 'vitest'
import { expectOneWinner } from './support/http/races.ts'
import { makePlace } from './support/kill/make-place.ts'
import { openStore } from './support/kill/open-store.ts'

test('of two answers at once over HTTP one gets 200 and the other 409 with the winner', async () => {
  const { location, remove } = await makePlace()
  await expectOneWinner([openStore(location), openStore(location)], 20)
  await remove()
})
