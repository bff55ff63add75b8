import { createClient, createEngine, type Engine, type Logger, procedure } from '@pawl/core'
import { memory } from '@pawl/testing'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { z } from 'zod'
import { makePlaces } from '../support/test-store.ts'

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} }
const timeout = 60_000

const kid = procedure({ name: 'kid', signals: { go: z.string() }, output: z.string() }, (ctx) =>
  ctx.receive('go'),
)
/** Waits for the end of one child, then sends a signal to another one, and waits for its end too. */
const parent = procedure(
  { name: 'parent', input: z.object({ sends: z.boolean() }) },
  async (ctx, { sends }) => {
    const spawned = await ctx.spawn(kid, undefined, { id: 'spawned' })
    const called = await ctx.call(kid, undefined, { id: 'called' })
    if (sends) await spawned.signal('go', 'by the parent')
    return [called, await spawned.result()]
  },
)
const procedures = [kid, parent]

type Family = { readonly [Id in 'parent' | 'called' | 'spawned']: Uint8Array }

describe('imported families', () => {
  const makePlace = makePlaces()
  /** Exports a parent that waits for its children. */
  async function exportFamily(children: 'live' | 'ended'): Promise<Family> {
    const engine = await createEngine({ store: memory(), procedures, logger: silent })
    onTestFinished(() => engine.stop())
    await engine.run(parent, { sends: children === 'live' }, { id: 'parent' })
    for (const id of ['spawned', 'called']) await vi.waitFor(() => engine.get(id).status(), { timeout })
    const file = await engine.export('parent')
    if (children === 'ended')
      for (const id of ['spawned', 'called']) {
        await engine.get(kid, id).signal('go', 'before the export')
        await engine.get(id).result()
      }
    const [called, spawned] = [await engine.export('called'), await engine.export('spawned')]
    return { parent: file, called, spawned }
  }

  async function begin(): Promise<{ readonly engine: Engine; readonly warnings: readonly string[] }> {
    const warnings: string[] = []
    const { store, remove } = await makePlace()
    const logger = { ...silent, warn: (message: string) => void warnings.push(message) }
    const engine = await createEngine({ store, procedures, logger })
    onTestFinished(async () => {
      await engine.stop()
      await remove()
    })
    return { engine, warnings }
  }

  const isMissing = (warnings: readonly string[], id: string): boolean =>
    warnings.some((one) => one.includes(`waits for its child "${id}", which is missing from this store`))

  const orders = [
    ['parent', 'called', 'spawned'],
    ['parent', 'spawned', 'called'],
    ['called', 'parent', 'spawned'],
    ['spawned', 'parent', 'called'],
    ['called', 'spawned', 'parent'],
  ] as const

  test.each(
    (['live', 'ended'] as const).flatMap((children) => orders.map((order) => [children, order] as const)),
  )('a family with %s children continues, imported in the order %s', async (children, order) => {
    const family = await exportFamily(children)
    const { engine, warnings } = await begin()
    const said = children === 'live' ? 'after the import' : 'before the export'
    const there = new Set<string>()
    for (const id of order) {
      await engine.import(family[id])
      there.add(id)
      if (id === 'called' && children === 'live') {
        await engine.get(kid, id).signal('go', said)
        await engine.get(id).result()
      }
      if (!there.has('parent')) continue
      // It has looked for a child that is still to come.
      const missing = there.has('called') ? 'spawned' : 'called'
      if (!there.has(missing)) await vi.waitUntil(() => isMissing(warnings, missing), { timeout })
    }
    const second = children === 'live' ? 'by the parent' : said
    expect(await engine.get(parent, 'parent').result()).toEqual([said, second])
  })

  test('a parent waits for a child that is never imported, says so, and can be cancelled', async () => {
    const family = await exportFamily('live')
    const { engine, warnings } = await begin()
    const run = await engine.import(family.parent)
    await vi.waitUntil(() => isMissing(warnings, 'called'), { timeout })
    await vi.waitFor(
      async () =>
        expect(await run.status()).toMatchObject({ status: 'waiting', waitingFor: [{ name: 'kid' }] }),
      { timeout },
    )
    await run.cancel('its child is lost')
    await expect(run.result()).rejects.toMatchObject({ code: 'run-cancelled' })
  })

  test('an imported parent that has not moved is exported as the same file', async () => {
    const family = await exportFamily('live')
    const { store, remove } = await makePlace()
    const client = createClient({ store })
    onTestFinished(async () => {
      await client.stop()
      await remove()
    })
    await client.import(family.parent)
    expect(await client.export('parent')).toEqual(family.parent)
  })
})
