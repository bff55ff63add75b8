import { expect, test } from 'vitest'
import { killCarelessChannel, killChannelAtEveryWrite } from './support/kill/channels.ts'
import { makeSqlitePlace } from './support/kill/sqlite-place.ts'

test('a worker killed after some of its transactions delivers and updates each ask at least once, in one run each', async () => {
  expect(await killChannelAtEveryWrite(makeSqlitePlace, 'after', 4)).toBeGreaterThan(1)
})

test('a channel without runs loses what was opened while it was down', async () => {
  expect(await killCarelessChannel(makeSqlitePlace)).toEqual(['updated ask:1', 'updated ask:2'])
})
