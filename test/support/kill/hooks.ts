import { rm } from 'node:fs/promises'
import { createServer as createReceiver } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createClient, createEngine, type Procedure, ref } from '@pawl/core'
import { createServer, webhooks } from '@pawl/server'
import { expect } from 'vitest'
import { bundle } from '../bundle.ts'
import { openStore } from './open-store.ts'
import type { Place } from './place.ts'
import type { KillMoment } from './sabotage.ts'
import { WorkerProcess } from './worker-process.ts'

const runs = ['work:1', 'work:2', 'work:3']
const silent = { debug() {}, info() {}, warn() {}, error() {} }

/**
 * Kills a server that sends webhooks around each of its writes in turn, and lets a second one finish. The receiver must be told of each
 * of three runs, and each delivery must be started once. Returns how many servers were killed.
 * @param makePlace makes an empty store
 * @param step 3 leaves out two of three writes
 */
export async function killHookServerAtEveryWrite(
  makePlace: () => Promise<Place>,
  when: KillMoment,
  step = 1,
): Promise<number> {
  const program = await bundle(new URL('../../programs/hook-server.ts', import.meta.url).pathname)
  const receiver = await startReceiver()
  let killed = 0
  for (let n = 1; ; n += step) {
    const place = await makePlace()
    const { location } = place
    await makeScene(location, receiver.url)
    receiver.forget()
    const first = new WorkerProcess(program, [location], { KILL_AT: `${n}:${when}` })
    await Promise.race([first.ended(), receiver.untilTold()])
    const wasKilled = !first.isRunning
    await first.kill()
    const second = new WorkerProcess(program, [location])
    await receiver.untilTold()
    const client = createClient({ store: openStore(location) })
    const deliveries = async (status?: 'completed') =>
      (await client.list({ procedure: 'pawl.deliver', ...(status && { status }) })).items.length
    await expect
      .poll(() => deliveries('completed'), { message: `killed ${when} write ${n}` })
      .toBe(runs.length)
    await second.kill()
    expect(await deliveries()).toBe(runs.length)
    await client.stop()
    await place.remove()
    if (!wasKilled) break
    killed++
  }
  await receiver.close()
  await rm(join(program, '..'), { recursive: true })
  return killed
}

/** A receiver that notes the run of each delivery. */
async function startReceiver() {
  let told = new Set<string>()
  let onTold = (): void => {}
  const server = createReceiver((request, response) => {
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (chunk: string) => {
      body += chunk
    })
    request.on('end', () => {
      told.add(JSON.parse(body).data.run.id)
      response.writeHead(204).end()
      onTold()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    forget() {
      told = new Set()
    },
    /** Resolves when it was told of each run. */
    async untilTold() {
      while (!runs.every((run) => told.has(run)))
        await new Promise<void>((resolve) => {
          onTold = resolve
        })
    },
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}

/** Registers a hook, and starts three runs that no worker begins. */
async function makeScene(location: string, url: string): Promise<void> {
  const hooks = webhooks({ keys: ['k'.repeat(32)], allowPrivate: true })
  const engine = await createEngine({
    store: openStore(location),
    procedures: [],
    plugins: [hooks],
    logger: silent,
  })
  const server = createServer({
    ...{ client: engine, hooks, logger: silent },
    auth: () => ({ actor: 'user:root', names: [], role: 'admin' }),
  })
  const call = async (method: string, body?: object) => {
    const headers = { host: '127.0.0.1', 'content-type': 'application/json' }
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
    return (await server.fetch(new Request('http://127.0.0.1/v1/hooks', init))).json()
  }
  await call('POST', { url, events: ['run.ended'] })
  await expect.poll(() => call('GET')).toMatchObject({ items: [{ url }] })
  await server.stop()
  await engine.stop()
  const client = createClient({ store: openStore(location) })
  for (const id of runs) await client.run(ref<Procedure<undefined, void>>('work'), undefined, { id })
  await client.stop()
}
