import { onTestFinished, test } from 'vitest'
import { killInLoop } from './support/agent-loop.ts'
import { makePlace } from './support/kill/make-place.ts'
import { openStore } from './support/kill/open-store.ts'
import { seeded } from './support/kill/seeded.ts'
import { seed } from './support/seed.ts'

const kills = 100

test(`a tool loop whose worker is killed ${kills} times repeats nothing recorded (SEED=${seed})`, async () => {
  const { location: place, remove } = await makePlace()
  onTestFinished(remove)
  await killInLoop({ kills, random: seeded(seed), place, store: openStore(place) })
})
