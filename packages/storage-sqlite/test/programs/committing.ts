// Commits units of seven events to five runs until it is killed: `committing <file> <mutation> <acknowledge>`.
// Writes a line for each unit when it was committed, or, with `early`, before.
import type { Unit } from '@pawl/core/storage'
import { type Mutation, makeMutant } from '../support/mutants.ts'
import { event, refund, run, type Standing, step } from '../support/runs.ts'

const [, , file = '', mutation = 'nothing', acknowledge = 'late'] = process.argv
const store = makeMutant(file, mutation as Mutation)
await store.open()
const worker = await store.register({ name: String(process.pid), leaseMs: 100 })
await store.create(Array.from({ length: 5 }, (_, index) => run(`run ${index}`)))
let standings: Standing[] = []
while (standings.length < 5) {
  await store.sweep()
  const { runs } = await store.claim({ worker, procedures: refund }, 5)
  standings.push(...runs.map((claimed) => ({ ...claimed, worker })))
}
for (let round = 0; ; round++) {
  const units = standings.map((standing) => plan(standing, `${process.pid}:${round}:${standing.run}`))
  if (acknowledge === 'early') write(units)
  const outcomes = await store.commit(worker, units)
  const refused = outcomes.find(({ outcome }) => outcome !== 'ok')
  if (refused) throw new Error(`commit: ${refused.outcome}`)
  if (acknowledge === 'late') write(units)
  standings = standings.map((standing) => ({ ...standing, head: standing.head + 7 }))
  await store.beat(worker)
}

function plan(standing: Standing, name: string): Unit {
  const events = Array.from({ length: 7 }, (_, index) =>
    event(standing.head + index, new Uint8Array(200), name),
  )
  return { ...step(standing), events, seals: events.map(() => null) }
}

function write(units: readonly Unit[]): void {
  process.stdout.write(units.map(({ run, head, events }) => `${run} ${head} ${events[0]?.name}\n`).join(''))
}
