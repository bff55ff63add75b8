import { expect, it } from 'vitest'
import { proveFencing } from './fencing.ts'

it('three processes stopped past their lease write nothing stale', async () => {
  const report = await proveFencing(9, 'nothing')
  console.log('fencing:', JSON.stringify(report))
  expect(report).toMatchObject({ stops: 9, stale: 0, lost: 0, gaps: 0 })
  expect(report.events).toBeGreaterThan(100)
  expect(report.refused).toBeGreaterThan(0)
})
