import { expect, it } from 'vitest'
import { proveKills } from './kills.ts'

it('ten thousand kills: nothing lost, torn or repeated', async () => {
  // A new file now and then, so that what is checked in the end stays small.
  for (let part = 0; part < 50; part++) {
    const report = await proveKills(200, 'nothing', 'late')
    console.log(part, JSON.stringify(report))
    expect(report).toMatchObject({ lost: 0, torn: 0, repeated: 0, gaps: 0 })
  }
})

it('control: what is acknowledged before it is committed is lost', async () => {
  const report = await proveKills(60, 'nothing', 'early')
  console.log(JSON.stringify(report))
  expect(report.lost).toBeGreaterThan(0)
})

it('control: without transactions units are torn', async () => {
  const report = await proveKills(60, 'without transactions', 'late')
  console.log(JSON.stringify(report))
  expect(report.torn + report.gaps).toBeGreaterThan(0)
})
