import { expect, test } from 'vitest'
import { killHookServerAtEveryWrite } from './support/kill/hooks.ts'
import { killMoments, makePlace } from './support/kill/make-place.ts'

test.each(killMoments)(
  'a server killed %s each of its writes delivers each event at least once',
  async (when) => {
    // Registration, claims, steps, and the start and end of each delivery.
    expect(await killHookServerAtEveryWrite(makePlace, when)).toBeGreaterThan(8)
  },
)
