import { expect, it } from 'vitest'
import { canCompile } from '../support/trace.ts'
import { provePowerLoss } from './power-loss.ts'

// Without a C compiler these two are skipped, and the skip is reported.
const proven = it.skipIf(!canCompile)

proven('whenever the power goes, what was acknowledged is there', async () => {
  const report = await provePowerLoss(300, 'full')
  console.log('power loss:', JSON.stringify(report))
  expect(report).toMatchObject({ states: 300, lost: 0, corrupt: 0, broken: 0 })
  expect(report.acknowledged).toBeGreaterThan(50)
})

proven('control: with synchronous=NORMAL something acknowledged is missing', async () => {
  expect((await provePowerLoss(100, 'normal')).lost).toBeGreaterThan(0)
})
