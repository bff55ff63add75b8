import { expect, test } from 'vitest'
import { checkChanges } from '../support/changed-programs.ts'

test('1,500 programs changed in the middle of their lives replay from every event', async () => {
  const tally = await checkChanges(Number(process.env['RUNS'] ?? 1_500), Number(process.env['SEED'] ?? 3))
  console.log(JSON.stringify(tally))
  expect(tally.replayedWithoutOld).toBe(tally.born)
})
