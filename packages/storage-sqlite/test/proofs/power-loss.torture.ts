import { expect, it } from 'vitest'
import { provePowerLoss } from './power-loss.ts'

it('a hundred thousand disks: nothing acknowledged is missing, nothing is damaged', async () => {
  for (let part = 0; part < 20; part++) {
    const report = await provePowerLoss(5000, 'full')
    console.log(part, JSON.stringify(report))
    expect(report).toMatchObject({ states: 5000, lost: 0, corrupt: 0, broken: 0 })
  }
})

it('control: with synchronous=NORMAL acknowledged events are lost', async () => {
  const report = await provePowerLoss(2000, 'normal')
  console.log(JSON.stringify(report))
  expect(report.lost).toBeGreaterThan(100)
  expect(report.corrupt).toBe(0)
})

it('control: with synchronous=OFF the file is damaged', async () => {
  const report = await provePowerLoss(2000, 'off')
  console.log(JSON.stringify(report))
  expect(report.corrupt).toBeGreaterThan(0)
})
