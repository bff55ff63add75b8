import { createClient, createEngine, type Logger, type Observer, procedure } from '@pawl/core'
import { createServer } from '@pawl/server'
import { memory } from '@pawl/testing'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { byToken, send, silent } from './support/server.ts'

const failing = procedure({ name: 'failing' }, async (ctx) => {
  await ctx.step('fail', () => Promise.reject(new Error('down')), { retry: false })
})
const waiting = procedure(
  { name: 'waiting', signals: { go: z.void() }, updates: { set: { input: z.number(), output: z.number() } } },
  async (ctx) => {
    ctx.on('set', (value) => value)
    await ctx.receive('go')
  },
)
const quick = procedure({ name: 'quick' }, async () => 'done')
const asking = procedure({ name: 'asking' }, async (ctx) => (await ctx.human.approve('Go?')).by)

interface Line {
  readonly message: string
  readonly fields: object | undefined
}

async function scene() {
  const lines: Line[] = []
  const logger: Logger = { ...silent, info: (message, fields) => lines.push({ message, fields }) }
  const engine = await createEngine({
    store: memory(),
    procedures: [failing, waiting, quick, asking],
    logger: silent,
  })
  const links = { publicUrl: 'http://127.0.0.1', keys: ['k'.repeat(32)] } as const
  const server = createServer({ client: engine, auth: byToken, logger, links })
  onTestFinished(async () => {
    await server.stop()
    await engine.stop()
  })
  const call = (who: string, method: string, path: string, body?: unknown) =>
    send(server.fetch, who, method, path, body)
  return { engine, server, lines, call }
}

test('the server names who sends a signal and an update, and a body cannot', async () => {
  const { engine, call } = await scene()
  const run = await engine.run(waiting, undefined, { id: 'w' })
  expect((await call('olga', 'POST', '/v1/runs/w/updates/set', { input: 1, by: 'user:eve' })).status).toBe(
    400,
  )
  expect((await call('olga', 'POST', '/v1/runs/w/signals/go', { by: 'user:eve' })).status).toBe(400)
  expect((await call('olga', 'POST', '/v1/runs/w/updates/set', { input: 1 })).status).toBe(200)
  expect((await call('olga', 'POST', '/v1/runs/w/signals/go', {})).status).toBe(202)
  await run.result()
  const { items } = (await call('olga', 'GET', '/v1/runs/w/log')).body
  const of = (type: string) => items.find((entry: { type: string }) => entry.type === type).result
  expect([of('signal').by, of('update').by]).toEqual(['user:olga', 'user:olga'])
})

test('a run says who retried it, until its next generation, and who cancelled it', async () => {
  const { engine, call } = await scene()
  const run = await engine.run(failing, undefined, { id: 'f' })
  await run.result().catch(() => {})
  expect((await run.status()).retriedBy).toBeUndefined()
  await call('olga', 'POST', '/v1/runs/f/retry', {})
  await run.result().catch(() => {})
  expect((await call('olga', 'GET', '/v1/runs/f')).body).toMatchObject({
    retriedBy: 'user:olga',
    generation: 2,
  })
  await call('root', 'POST', '/v1/runs/retry', { runs: ['f'] })
  await run.result().catch(() => {})
  expect(await run.status()).toMatchObject({ retriedBy: 'user:root', generation: 3 })
  await engine.retry('f')
  await run.result().catch(() => {})
  expect((await run.status()).retriedBy).toBeUndefined()

  await engine.run(waiting, undefined, { id: 'w' })
  await call('olga', 'POST', '/v1/runs/w/cancel', { reason: 'enough' })
  await engine
    .get('w')
    .result()
    .catch(() => {})
  expect((await call('olga', 'GET', '/v1/runs/w')).body).toMatchObject({
    cancelledBy: 'user:olga',
    cancelReason: 'enough',
  })
})

test('what leaves nothing in the store is a line of the log of the server', async () => {
  const { engine, server, lines, call } = await scene()
  await (await engine.run(quick, undefined, { id: 'q' })).result()
  await engine.run(waiting, undefined, { id: 'w' })
  await engine.run(asking, undefined, { id: 'a' })
  const { id: ask } = await engine.inbox.next({ run: 'a' })
  await call('root', 'POST', `/v1/asks/${ask}/links`, { as: 'user:bob' })
  const exported = await server.fetch(
    new Request('http://127.0.0.1/v1/runs/q/export', {
      headers: { host: '127.0.0.1', authorization: 'Bearer root' },
    }),
  )
  const file = new Uint8Array(await exported.arrayBuffer())
  await call('root', 'DELETE', '/v1/runs/q')
  await server.fetch(
    new Request('http://127.0.0.1/v1/runs/import', {
      method: 'POST',
      headers: {
        host: '127.0.0.1',
        authorization: 'Bearer root',
        'content-type': 'application/octet-stream',
      },
      body: file,
    }),
  )
  const saved = await call('olga', 'POST', '/v1/runs/w/checkpoints', { state: 1 })
  await call('olga', 'DELETE', `/v1/checkpoints/${saved.body.id}`)
  await call('root', 'POST', '/v1/checkpoints/cleanup', { keep: 3 })
  await call('olga', 'DELETE', '/v1/runs/w')
  expect(lines).toEqual([
    line('user:root', `A link to ask ${ask} of run "a" was made`),
    line('user:root', 'Run "q" is exported'),
    line('user:root', 'Run "q" was deleted'),
    line('user:root', 'Run "q" was imported'),
    line('user:olga', `Checkpoint ${saved.body.id} of run "w" was saved`),
    line('user:olga', 'Checkpoints of run "w" were deleted'),
    line('user:root', 'Checkpoints of all runs were cleaned up'),
  ])
})

test('an observer is told of every verb, by whom, and whether it was refused', async () => {
  const told: string[] = []
  const observe = {
    called({ verb, run, by }) {
      const deed = `${verb} ${run} by ${by}`
      return { done: () => told.push(deed), failed: () => told.push(`refused: ${deed}`) }
    },
    attempted: () => ({ run: (body) => body(), recorded: () => {} }),
    created: () => {},
    closed: () => {},
    ended: () => {},
    committed: () => {},
    attached: () => () => {},
  } satisfies Observer
  const store = memory()
  const engine = await createEngine({ store, procedures: [failing, waiting, quick], logger: silent })
  const client = createClient({ store, observe })
  onTestFinished(async () => {
    await client.stop()
    await engine.stop()
  })
  const by = { by: 'user:ana' } as const
  await (await engine.run(quick, undefined, { id: 'q' })).result()
  await engine.run(failing, undefined, { id: 'f' })
  await engine
    .get('f')
    .result()
    .catch(() => {})
  await engine.run(waiting, undefined, { id: 'w' })
  await client.get('w').update('set', 1, by)
  await client.checkpoints.create('w', 1, by)
  await client.checkpoints.cleanup({ keep: 5 }, by)
  await client.checkpoints.delete('w', by)
  await client.cancel('w', 'enough', by)
  await client.retry('f', by)
  await engine
    .get('f')
    .result()
    .catch(() => {})
  await client.fork('f', { position: 0 }, { id: 'g', ...by })
  const file = await client.export('q', by)
  await client.delete('q', by)
  await client.import(file, by)
  await client.delete('none', by).catch(() => {})
  for await (const _ of client.exportStream('q', by)) break
  expect(told).toEqual([
    'update w by user:ana',
    'checkpoints.create w by user:ana',
    'checkpoints.cleanup undefined by user:ana',
    'checkpoints.delete undefined by user:ana',
    'cancel w by user:ana',
    'retry f by user:ana',
    'fork f by user:ana',
    'export q by user:ana',
    'delete q by user:ana',
    'import undefined by user:ana',
    'refused: delete none by user:ana',
    'refused: export q by user:ana',
  ])
  await expect(client.delete('q', { by: 'ana' as 'user:ana' })).rejects.toMatchObject({
    code: 'option-invalid',
  })
})

function line(by: string, message: string): Line {
  return { message, fields: expect.objectContaining({ by }) }
}
