import { createEngine, procedure, type Store } from '@pawl/core'
import { postgres } from '@pawl/storage-postgres'
import { z } from 'zod'
import { sqliteStore } from '../support/sqlite.ts'

// A worker of parents, or of their children, on a store that others use too. It runs until it is killed.

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

const [kind = '', place = ''] = process.argv.slice(2)
const store: Store = place.startsWith('postgres') ? postgres(place) : sqliteStore(place)
await createEngine({ store, procedures: kind === 'parent' ? [parent] : [child], lease: '1s' })
process.send?.('ready')
setInterval(() => {}, 1_000)
