import { expect, test } from 'vitest'
import {
  killCarelessChannel,
  killChannelAtEveryWrite,
  killChannelBeforeItsRecord,
  killNoticesAtEveryWrite,
} from './support/kill/channels.ts'
import { makeSqlitePlace } from './support/kill/sqlite-place.ts'

test('a worker killed after some of its transactions delivers and updates each ask at least once, in one run each', async () => {
  expect(await killChannelAtEveryWrite(makeSqlitePlace, 'after', 4)).toBeGreaterThan(1)
})

test('what was delivered before a kill, and not recorded, is updated if the ask is closed meanwhile', async () => {
  expect(await killChannelBeforeItsRecord(makeSqlitePlace)).toEqual([
    ...['delivered ask:1', 'delivered ask:2', 'updated ask:1', 'updated ask:2'],
  ])
})

test('a worker killed after some of its transactions delivers each notice at least once, in one run each', async () => {
  expect(await killNoticesAtEveryWrite(makeSqlitePlace, 'after', 4)).toBeGreaterThan(0)
})

test('a channel without runs loses what was opened while it was down', async () => {
  expect(await killCarelessChannel(makeSqlitePlace)).toEqual(['updated ask:1', 'updated ask:2'])
})
