import { expect, test } from 'vitest'
import { seed } from '../../../../test/support/seed.ts'
import { play } from './play.ts'

const worlds = Number(process.env['WORLDS'] ?? 50_000)
const atOnce = 100

test(`in ${worlds} worlds all that was acknowledged is kept, and all runs end as they began (SEED=${seed})`, async () => {
  const all: string[] = []
  for (let from = 0; from < worlds; from += atOnce) {
    const seeds = Array.from({ length: Math.min(atOnce, worlds - from) }, (_, i) => seed + from + i)
    const { faults, deadly, found, unlucky, ...totals } = await play(seeds)
    all.push(...faults)
    console.log({
      from,
      deadly,
      found,
      unlucky,
      ...totals,
      faults: faults.map((fault) => fault.split('\n').slice(0, 2)),
    })
  }
  expect(all).toEqual([])
})
