import { expect, test } from 'vitest'
import { killChannelAtEveryWrite, killNoticesAtEveryWrite } from './support/kill/channels.ts'
import { makeSqlitePlace } from './support/kill/sqlite-place.ts'

test.each(['before', 'after'] as const)(
  'a worker killed %s each of its transactions delivers and updates each ask at least once',
  async (when) => {
    expect(await killChannelAtEveryWrite(makeSqlitePlace, when)).toBeGreaterThan(8)
  },
)

test.each(['before', 'after'] as const)(
  'a worker killed %s each of its transactions delivers each notice at least once',
  async (when) => {
    expect(await killNoticesAtEveryWrite(makeSqlitePlace, when)).toBeGreaterThan(3)
  },
)
