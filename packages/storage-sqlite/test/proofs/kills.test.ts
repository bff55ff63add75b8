import { expect, it } from 'vitest'
import { proveKills } from './kills.ts'

it('a process that is killed while it commits loses nothing acknowledged', async () => {
  const report = await proveKills(15, 'nothing', 'late')
  console.log('kills:', JSON.stringify(report))
  expect(report).toMatchObject({ kills: 15, lost: 0, torn: 0, repeated: 0, gaps: 0 })
  expect(report.acknowledged).toBeGreaterThan(15)
})
