// Claims runs that are due, reads their mail and parks them again: `parking <file> <mutation>`. Ends when its input
// has ended and nothing is due any more. Writes how often a message kept a run from being parked.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Claimed, Unit } from '@pawl/core/storage'
import { type Mutation, makeMutant } from '../support/mutants.ts'
import { refund, step } from '../support/runs.ts'

const [, , file = '', mutation = 'nothing'] = process.argv
const store = makeMutant(file, mutation as Mutation)
await store.open()
const worker = await store.workers.register({ name: String(process.pid), leaseMs: 3_600_000 })
let kept = 0
let isOver = false
process.stdin.resume().on('end', () => (isOver = true))

for (let idle = 0; idle < 3; ) {
  // All that are due: one that lags behind would find both messages of a run there, and none would meet a park.
  const { runs } = await store.claims.claim({ worker, procedures: refund }, 500)
  let claimed: readonly Claimed[] = runs
  while (claimed.length > 0) claimed = await park(claimed)
  if (runs.length === 0) await sleep(1)
  idle = isOver && runs.length === 0 ? idle + 1 : 0
}
console.log(kept)
await store.close()

/** Returns the runs that could not be parked. */
async function park(claimed: readonly Claimed[]): Promise<Claimed[]> {
  const units: Unit[] = []
  for (const one of claimed) {
    const mail = await store.mail.list(one.run, 0)
    const seen = mail.at(-1)?.n ?? one.mail
    const effects = mail.map(({ n }) => ({ do: 'consume', n }) as const)
    units.push({ ...step({ ...one, worker }), seen, effects, next: { do: 'park', wakeAt: null } })
  }
  // The window: what comes now is not in what was read.
  await sleep(1 + Math.random() * 2)
  const outcomes = await store.log.commit(worker, units)
  return outcomes.flatMap((outcome, index) => {
    const one = claimed[index]
    if (!one || outcome.outcome !== 'ok') throw new Error(`commit: ${outcome.outcome}`)
    if (outcome.parked || mutation !== 'nothing') return []
    kept++
    return { ...one, head: one.head + 1, mail: one.mail }
  })
}
