// A worker of parents, or of their children, on a store that others use too. It runs until it is killed. Arguments: `parent`
// or `child`, and where runs are kept. support/kill/sabotage.ts says what else it can be told; CREATE=early creates the
// children of a unit before the unit, for the control of a test.
import { createEngine, procedure } from '@pawl/core'
import type { Effect, StorePort, Unit, WorkerKey } from '@pawl/core/storage'
import { z } from 'zod'
import { openStore } from '../support/kill/open-store.ts'
import { readSabotage } from '../support/kill/sabotage.ts'
import { sabotagePostgres } from '../support/kill/sabotage-postgres.ts'
import { sabotageSqlite } from '../support/kill/sabotage-sqlite.ts'
import { meddleWith } from '../support/meddling-store.ts'

const child = procedure(
  { name: 'child', input: z.object({ n: z.number() }), output: z.number() },
  async (ctx, { n }) => {
    await ctx.sleep('5ms')
    return ctx.step('double', () => 2 * n)
  },
)
const parent = procedure({ name: 'parent', output: z.number() }, async (ctx) => {
  const called = await Promise.all([1, 2, 3].map((n) => ctx.call(child, { n })))
  const spawned = await ctx.spawn(child, { n: 4 })
  return called.reduce((sum, one) => sum + one, await spawned.result())
})
const account = procedure(
  {
    name: 'account',
    output: z.array(z.string()),
    signals: { close: z.null() },
    state: { sum: z.number() },
    updates: { add: { input: z.object({ id: z.string(), n: z.number() }), output: z.number() } },
  },
  async (ctx) => {
    const added: string[] = []
    let sum = 0
    ctx.on('add', async ({ id, n }) => {
      await ctx.step(`add ${id}`, () => n)
      added.push(id)
      sum += n
      ctx.expose('sum', sum)
      return sum
    })
    await ctx.receive('close')
    return added
  },
)

const [kind = '', place = ''] = process.argv.slice(2)
const sabotage = readSabotage()
sabotageSqlite(sabotage)
sabotagePostgres(sabotage)

const { store, always } = meddleWith(openStore(place))
const isCreation = (effect: Effect): effect is Effect & { readonly do: 'create-run' } =>
  effect.do === 'create-run'
if (process.env['CREATE'] === 'early')
  always('log.commit', async (go, [worker, units], port: StorePort) => {
    const all = units as readonly Unit[]
    const early = all.flatMap((unit): Unit[] => {
      const effects = unit.effects.filter(isCreation)
      const nothing = { events: [], seals: [], link: null, strict: false, next: { do: 'keep' } } as const
      return effects.length === 0 ? [] : [{ ...unit, ...nothing, effects }]
    })
    if (early.length === 0) return go()
    await port.log.commit(worker as WorkerKey, early)
    const others = all.map((unit) => ({ ...unit, effects: unit.effects.filter((one) => !isCreation(one)) }))
    return port.log.commit(worker as WorkerKey, others)
  })
// Whoever started it is gone.
process.stdin.once('end', () => process.exit()).resume()

const procedures = kind === 'parent' ? [parent, account] : [child]
// The kills come from outside: several may hit a run before it has written anything.
const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
await createEngine({ store, procedures, lease: '1s', maxCrashes: 10_000, logger })
process.stdout.write('ready\n')
setInterval(() => {}, 1_000)
