import { expect, test } from 'vitest'
import { killHookServerAtEveryWrite } from './support/kill/hooks.ts'
import { makeSqlitePlace } from './support/kill/sqlite-place.ts'

test.each(['before', 'after'] as const)(
  'a server killed %s each of its transactions delivers each event at least once',
  async (when) => {
    expect(await killHookServerAtEveryWrite(makeSqlitePlace, when)).toBeGreaterThan(8)
  },
)
