import { expect, it } from 'vitest'
import { proveFencing } from './fencing.ts'

it('a thousand stops past the lease: nothing stale, nothing lost, no gap', async () => {
  const report = await proveFencing(1000, 'nothing')
  console.log(JSON.stringify(report))
  expect(report).toMatchObject({ stale: 0, lost: 0, gaps: 0 })
  expect(report.refused).toBeGreaterThan(100)
})

it('control: without a check of epoch and worker stale owners write', async () => {
  const report = await proveFencing(60, 'without a check of epoch and worker')
  console.log(JSON.stringify(report))
  expect(report.stale).toBeGreaterThan(0)
})
