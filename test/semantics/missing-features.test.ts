import { createEngine, PawlError, procedure } from '@pawl/core'
import { connectTo, defineStore, type StorePort } from '@pawl/core/storage'
import { memory } from '@pawl/testing'
import { expect, onTestFinished, test } from 'vitest'

/** An engine on a store that has nothing but what every store must have. */
async function startBare(procedures: Parameters<typeof createEngine>[0]['procedures']) {
  const engine = await createEngine({ store: bare(), procedures, logger: silent })
  onTestFinished(() => engine.stop())
  return engine
}

function bare() {
  const inner = memory()
  return defineStore('bare', (): StorePort => {
    const port = connectTo(inner) as StorePort
    const { copies: _, removals: __, checkpoints: ___, notices: ____, suspects: _____, ...rest } = port
    return rest
  })
}

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const done = procedure({ name: 'done' }, async () => 'done')

test('a store without optional concerns executes runs, and each call that needs one names the feature', async () => {
  const engine = await startBare([done])
  const run = await engine.run(done, undefined, { id: 'a' })
  expect(await run.result()).toBe('done')
  const calls: readonly (readonly [feature: string, call: () => Promise<unknown>])[] = [
    ['copies', () => engine.export('a')],
    ['copies', () => engine.fork('a', { position: 0 })],
    ['removals', () => engine.delete('a')],
    ['removals', () => engine.inbox.list({ archived: true })],
    ['checkpoints', () => engine.checkpoints.list('a')],
    ['checkpoints', () => engine.checkpoints.listAll()],
    ['checkpoints', () => engine.checkpoints.delete('a')],
    ['checkpoints', () => engine.checkpoints.cleanup({ keep: 1 })],
    ['notices', () => engine.inbox.notices()],
  ]
  for (const [feature, call] of calls)
    await expect(call()).rejects.toMatchObject({ code: 'feature-missing', details: { feature } })
  expect(await (await engine.run(done, undefined, { id: 'a' })).result()).toBe('done')
})

test('a procedure can catch that the store has no checkpoints and no notices', async () => {
  const trying = procedure({ name: 'trying' }, async (ctx) => {
    const missing: string[] = []
    for (const call of [() => ctx.checkpoint('half'), () => ctx.human.notify('Look')])
      await call().catch((error: unknown) => {
        if (!PawlError.is(error, 'feature-missing')) throw error
        missing.push(error.details.feature)
      })
    return missing
  })
  const engine = await startBare([trying])
  expect(await (await engine.run(trying)).result()).toEqual(['checkpoints', 'notices'])
})

test('a run whose undo fails ends on a store without notices', async () => {
  const failing = procedure({ name: 'failing' }, async (ctx) => {
    await ctx.step('pay', () => 1, {
      undo: () => {
        throw new Error('no way back')
      },
      retry: { attempts: 1 },
    })
    throw new Error('sold out')
  })
  const engine = await startBare([failing])
  await expect((await engine.run(failing)).result()).rejects.toMatchObject({ code: 'run-failed' })
})

test('an engine that is to delete runs does not start on a store that cannot', async () => {
  await expect(
    createEngine({
      store: bare(),
      procedures: [done],
      retention: { done: { completed: '1d' } },
      logger: silent,
    }),
  ).rejects.toMatchObject({ code: 'feature-missing', details: { feature: 'removals' } })
})
