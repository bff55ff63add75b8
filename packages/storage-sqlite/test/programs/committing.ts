// Commits units of seven events to five runs until it is killed: `committing <file> <mutation> <acknowledge>`.
// Writes a line for each unit when it was committed, or, with `early`, before.
import type { Unit } from '@pawl/core/storage'
import { type Mutation, makeMutant } from '../support/mutants.ts'
import { event, refund, run, type Standing, step } from '../support/runs.ts'

const [, , file = '', mutation = 'nothing', acknowledge = 'late'] = process.argv
const store = makeMutant(file, mutation as Mutation)
await store.open()
await store.runs.create(Array.from({ length: 5 }, (_, index) => run(`run ${index}`)))
let { worker, standings } = await takeUp()
for (let round = 0; ; round++) {
  const units = standings.map((standing) => plan(standing, `${process.pid}:${round}:${standing.run}`))
  if (acknowledge === 'early') write(units)
  const outcomes = await store.log.commit(worker, units)
  const refused = outcomes.find(({ outcome }) => outcome !== 'ok')
  if (refused && refused.outcome !== 'fenced') throw new Error(`commit: ${refused.outcome}`)
  if (acknowledge === 'late') write(units.filter((_, index) => outcomes[index]?.outcome === 'ok'))
  standings = standings.map((standing) => ({ ...standing, head: standing.head + 7 }))
  if (!(await store.workers.beat(worker))) ({ worker, standings } = await takeUp())
}

/**
 * All five runs, as soon as their owner is taken for dead. The lease is so short that on a busy machine it
 * expires in this process too, which then begins anew.
 */
async function takeUp(): Promise<{ readonly worker: number; readonly standings: readonly Standing[] }> {
  for (;;) {
    const worker = await store.workers.register({ name: String(process.pid), leaseMs: 100 })
    const standings: Standing[] = []
    while (await store.workers.beat(worker)) {
      await store.workers.sweep()
      const { runs } = await store.claims.claim({ worker, procedures: refund }, 5)
      standings.push(...runs.map((claimed) => ({ ...claimed, worker })))
      if (standings.length === 5) return { worker, standings }
    }
  }
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
