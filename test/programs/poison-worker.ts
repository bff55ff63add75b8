// A worker of runs of which some kill it. Arguments: where runs are kept. POISON: ids of runs that kill it, by
// commas. FINISHES: the other runs complete; without, their step never ends. TOGETHER: suspects are never told apart.
import { writeSync } from 'node:fs'
import { createEngine, procedure, type Store } from '@pawl/core'
import { type Claimant, connectTo, defineStore, type WholeStore } from '@pawl/core/storage'
import { openStore } from '../support/kill/open-store.ts'

// Whoever started it is gone.
process.stdin.once('end', () => process.exit()).resume()

const poison = new Set((process.env['POISON'] ?? '').split(','))
const work = procedure({ name: 'work' }, (ctx) =>
  ctx.step('work', () => {
    if (poison.has(ctx.runId)) process.kill(process.pid, 'SIGKILL')
    writeSync(1, 'at work\n')
    return process.env['FINISHES'] === undefined ? new Promise<string>(() => {}) : 'done'
  }),
)

/** Whatever group is chosen, all suspects are taken with it. */
function takeTogether(inner: Store): Store {
  return defineStore(inner.kind, () => {
    const port = connectTo(inner) as WholeStore
    const take = async (claimant: Claimant) => {
      const all = await port.suspects.list(claimant, 1_000)
      return port.claims.take(
        claimant,
        all.map(({ run }) => run),
      )
    }
    return { ...port, claims: { ...port.claims, take } }
  })
}

const store = openStore(process.argv[2] ?? '')
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
await createEngine({
  store: process.env['TOGETHER'] === undefined ? store : takeTogether(store),
  procedures: [work],
  logger: silent,
})
