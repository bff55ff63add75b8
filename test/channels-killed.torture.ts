import { expect, test } from 'vitest'
import { killChannelAtEveryWrite, killNoticesAtEveryWrite } from './support/kill/channels.ts'
import { killMoments, makePlace } from './support/kill/make-place.ts'

test.each(killMoments)(
  'a worker killed %s each of its transactions delivers and updates each ask at least once',
  async (when) => {
    expect(await killChannelAtEveryWrite(makePlace, when)).toBeGreaterThan(8)
  },
)

test.each(killMoments)(
  'a worker killed %s each of its transactions delivers each notice at least once',
  async (when) => {
    expect(await killNoticesAtEveryWrite(makePlace, when)).toBeGreaterThan(3)
  },
)
