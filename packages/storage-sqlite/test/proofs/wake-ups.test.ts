import { expect, it } from 'vitest'
import { proveWakeUps } from './wake-ups.ts'

it('three thousand messages while runs are parked: none is stranded', async () => {
  const report = await proveWakeUps(3000, 'nothing')
  console.log('wake-ups:', JSON.stringify(report))
  expect(report).toMatchObject({ messages: 3000, stranded: 0, unread: 0 })
  expect(report.races).toBeGreaterThan(0)
})
