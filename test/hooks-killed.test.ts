import { cp, rm } from 'node:fs/promises'
import { createServer as createReceiver } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createClient, createEngine, type Procedure, ref } from '@pawl/core'
import { createServer, webhooks } from '@pawl/server'
import { sqlite } from '@pawl/storage-sqlite'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { bundle, temporaryFolder } from './support/bundle.ts'
import { WorkerProcess } from './support/kill/worker-process.ts'

const runs = ['work:1', 'work:2', 'work:3']
const silent = { debug() {}, info() {}, warn() {}, error() {} }

let program: string
let folder: string
/** The ids of the runs that the receiver was told of. */
let told: string[] = []
let onTold = (): void => {}
const receiver = createReceiver((request, response) => {
  let body = ''
  request.setEncoding('utf8')
  request.on('data', (chunk: string) => {
    body += chunk
  })
  request.on('end', () => {
    told.push(JSON.parse(body).data.run.id)
    response.writeHead(204).end()
    onTold()
  })
})

beforeAll(async () => {
  program = await bundle(new URL('./programs/hook-server.ts', import.meta.url).pathname)
  folder = await temporaryFolder()
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  await makeStore(join(folder, 'scene.db'))
})
afterAll(async () => {
  receiver.close()
  await rm(join(program, '..'), { recursive: true })
  await rm(folder, { recursive: true })
})

/** A store with a hook that is registered, and three runs that no worker has begun. */
async function makeStore(file: string): Promise<void> {
  const hooks = webhooks({ keys: ['k'.repeat(32)], allowPrivate: true })
  const engine = await createEngine({ store: sqlite(file), procedures: hooks.procedures, logger: silent })
  const server = createServer({
    ...{ client: engine, hooks, logger: silent },
    auth: () => ({ actor: 'user:root', names: [], role: 'admin' }),
  })
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
  const call = async (method: string, body?: object) => {
    const headers = { host: '127.0.0.1', 'content-type': 'application/json' }
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
    return (await server.fetch(new Request('http://127.0.0.1/v1/hooks', init))).json()
  }
  await call('POST', { url, events: ['run.ended'] })
  await vi.waitFor(async () => expect(await call('GET')).toMatchObject({ items: [{ url }] }), 600_000)
  await server.stop()
  await engine.stop()
  const client = createClient({ store: sqlite(file) })
  for (const id of runs) await client.run(ref<Procedure<undefined, void>>('work'), undefined, { id })
  await client.stop()
}

/** Resolves when the receiver was told of each run. */
async function untilAllTold(): Promise<void> {
  for (;;) {
    if (runs.every((run) => told.includes(run))) return
    await new Promise<void>((resolve) => {
      onTold = resolve
    })
  }
}

test('a server killed after any of its transactions delivers each event at least once, and starts each delivery once', async () => {
  let killed = 0
  for (let n = 1; ; n++) {
    told = []
    const file = join(folder, `killed-${n}.db`)
    await cp(join(folder, 'scene.db'), file)
    const first = new WorkerProcess(program, [file], { KILL_AT: `${n}:after` })
    await Promise.race([first.ended(), untilAllTold()])
    const wasKilled = !first.isRunning
    await first.kill()
    const second = new WorkerProcess(program, [file])
    await untilAllTold()
    const client = createClient({ store: sqlite(file) })
    const done = async () =>
      (await client.list({ procedure: 'pawl.deliver', status: 'completed' })).items.length
    await expect.poll(done, { message: `killed after transaction ${n}` }).toBe(3)
    await second.kill()
    expect((await client.list({ procedure: 'pawl.deliver' })).items).toHaveLength(3)
    await client.stop()
    if (!wasKilled) break
    killed++
  }
  // Registration, claims, steps, and the start and end of each delivery.
  expect(killed).toBeGreaterThan(8)
})
