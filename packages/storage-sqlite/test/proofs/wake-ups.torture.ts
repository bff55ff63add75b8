import { expect, it } from 'vitest'
import { proveWakeUps } from './wake-ups.ts'

it('a hundred thousand messages while runs are parked: none is stranded', async () => {
  const report = await proveWakeUps(100_000, 'nothing')
  console.log(JSON.stringify(report))
  expect(report).toMatchObject({ messages: 100_000, stranded: 0, unread: 0 })
  expect(report.races).toBeGreaterThan(100)
})

it('control: parking whatever mail has come strands messages', async () => {
  const report = await proveWakeUps(10_000, 'parking whatever mail has come')
  console.log(JSON.stringify(report))
  expect(report.stranded).toBeGreaterThan(0)
})
