import { rm } from 'node:fs/promises'
import { createServer as createReceiver } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type Client, createClient, createEngine, procedure } from '@pawl/core'
import { bundle } from '../bundle.ts'
import { openStore } from './open-store.ts'
import type { Place } from './place.ts'
import type { KillMoment } from './sabotage.ts'
import { WorkerProcess } from './worker-process.ts'

const runs = ['ask:1', 'ask:2']
const silent = { debug() {}, info() {}, warn() {}, error() {} }
const asking = procedure({ name: 'asking' }, async (ctx) => {
  await ctx.human.approve('Go?')
})
const telling = procedure({ name: 'telling' }, async (ctx) => {
  await ctx.human.notify('Gone')
})

/**
 * Kills a worker with a channel around each of its writes in turn, and lets a second one finish: two asks are delivered, answered
 * meanwhile, and updated. The receiver must be told of each delivery and each update. Returns how many workers were killed.
 * @param makePlace makes an empty store
 * @param step 3 leaves out two of three writes
 */
export async function killChannelAtEveryWrite(
  makePlace: () => Promise<Place>,
  when: KillMoment,
  step = 1,
): Promise<number> {
  const scene = await startScene()
  let killed = 0
  for (let n = 1; ; n += step) {
    await using trial = await scene.begin(await makePlace())
    const first = trial.start({ KILL_AT: `${n}:${when}` })
    const isOver = () => !first.isRunning
    const delivered = runs.map((run) => `delivered ${run}`)
    await Promise.race([first.ended(), scene.untilTold(delivered).then(trial.untilDelivered)])
    if (!isOver()) {
      await trial.answer()
      await Promise.race([first.ended(), scene.untilTold(runs.map((run) => `updated ${run}`))])
    }
    const wasKilled = isOver()
    await first.kill()
    const second = trial.start()
    await scene.untilTold(delivered)
    await trial.untilDelivered()
    await trial.answer()
    await scene.untilTold(runs.map((run) => `updated ${run}`))
    await trial.untilEnded()
    await second.kill()
    if (!wasKilled) break
    killed += 1
  }
  await scene.close()
  return killed
}

/**
 * Kills a worker once it has delivered two asks, before either delivery is recorded, and answers them before a second one begins. Returns
 * what the receiver was told.
 */
export async function killChannelBeforeItsRecord(
  makePlace: () => Promise<Place>,
): Promise<readonly string[]> {
  const scene = await startScene()
  {
    await using trial = await scene.begin(await makePlace())
    const first = trial.start({}, 'unrecorded')
    await first.ended()
    await trial.answer()
    const second = trial.start()
    await trial.untilEnded()
    await second.kill()
  }
  await scene.close()
  return scene.told()
}

/**
 * Kills a worker with a channel around each of its writes in turn, and lets a second one finish: two notices are told while neither
 * works. The receiver must be told of each. Returns how many workers were killed.
 * @param step 3 leaves out two of three writes
 */
export async function killNoticesAtEveryWrite(
  makePlace: () => Promise<Place>,
  when: KillMoment,
  step = 1,
): Promise<number> {
  const scene = await startScene()
  const noticed = runs.map((run) => `noticed ${run}`)
  let killed = 0
  for (let n = 1; ; n += step) {
    await using trial = await scene.beginNotices(await makePlace())
    const first = trial.start({ KILL_AT: `${n}:${when}` })
    await Promise.race([first.ended(), scene.untilTold(noticed).then(trial.untilDelivered)])
    const wasKilled = !first.isRunning
    await first.kill()
    const second = trial.start()
    await scene.untilTold(noticed)
    await trial.untilDelivered()
    await second.kill()
    if (!wasKilled) break
    killed += 1
  }
  await scene.close()
  return killed
}

/**
 * The control: a channel without runs, killed while two asks are open, and started again. Returns what was told once it has seen their
 * answers.
 */
export async function killCarelessChannel(makePlace: () => Promise<Place>): Promise<readonly string[]> {
  const scene = await startScene()
  {
    await using trial = await scene.begin(await makePlace())
    const first = trial.start({}, 'careless')
    await first.ready()
    await first.kill()
    const second = trial.start({}, 'careless')
    await second.ready()
    await trial.answer()
    await scene.untilTold(runs.map((run) => `updated ${run}`))
    await second.kill()
  }
  await scene.close()
  return scene.told()
}

async function startScene() {
  const program = await bundle(new URL('../../programs/channel-worker.ts', import.meta.url).pathname)
  let told = new Set<string>()
  let onTold = (): void => {}
  const receiver = createReceiver((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk
    })
    request.on('end', () => {
      told.add(body)
      response.writeHead(204).end()
      onTold()
    })
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
  return {
    told: () => [...told].sort(),
    async untilTold(wanted: readonly string[]) {
      while (!wanted.every((one) => told.has(one)))
        await new Promise<void>((resolve) => {
          onTold = resolve
        })
    },
    /** Opens two asks, of which no channel knows. */
    async begin(place: Place) {
      told = new Set()
      const { location } = place
      await openAsks(location)
      const client = createClient({ store: openStore(location) })
      return {
        start: (env: Record<string, string> = {}, ...more: string[]) =>
          new WorkerProcess(program, [location, url, ...more], env),
        answer: () => answerAll(client),
        /** Waits until it is recorded: what is answered before that has no delivery to update. */
        async untilDelivered() {
          for (;;) {
            const { items } = await client.list({ procedure: 'pawl.notify.desk' })
            const logs = await Promise.all(items.map(({ id }) => client.log(id)))
            const delivered = logs.filter(({ execution_log: log }) =>
              log.some(({ name, status }) => name === 'deliver' && status === 'done'),
            )
            if (delivered.length === runs.length) return
            await new Promise((resolve) => setTimeout(resolve, 20))
          }
        },
        async untilEnded() {
          for (;;) {
            const { items } = await client.list({ procedure: 'pawl.notify.desk' })
            if (items.length !== runs.length) throw new Error(`${items.length} deliveries`)
            if (items.every(({ status }) => status === 'completed')) return
            await new Promise((resolve) => setTimeout(resolve, 20))
          }
        },
        async [Symbol.asyncDispose]() {
          await client.stop()
          await place.remove()
        },
      }
    },
    /** Tells two notices after a worker has begun to follow them, and has ended. */
    async beginNotices(place: Place) {
      told = new Set()
      const { location } = place
      const client = createClient({ store: openStore(location) })
      const start = (env: Record<string, string> = {}) =>
        new WorkerProcess(program, [location, url, 'notices'], env)
      /** Waits until this many deliveries have ended, and there are no others. The first one says where the channel began. */
      const untilEnded = async (count: number): Promise<void> => {
        for (;;) {
          const { items } = await client.list({ procedure: 'pawl.notice.desk' })
          if (items.length > count) throw new Error(`${items.length} deliveries`)
          if (items.filter(({ status }) => status === 'completed').length === count) return
          await new Promise((resolve) => setTimeout(resolve, 20))
        }
      }
      const before = start()
      await untilEnded(1)
      await before.kill()
      await tellTwice(location)
      return {
        start,
        untilDelivered: () => untilEnded(1 + runs.length),
        async [Symbol.asyncDispose]() {
          await client.stop()
          await place.remove()
        },
      }
    },
    async close() {
      receiver.closeAllConnections()
      await new Promise((resolve) => receiver.close(resolve))
      await rm(join(program, '..'), { recursive: true })
    },
  }
}

async function openAsks(location: string): Promise<void> {
  const engine = await createEngine({ store: openStore(location), procedures: [asking], logger: silent })
  for (const id of runs) {
    await engine.run(asking, undefined, { id })
    await engine.inbox.next({ run: id })
  }
  await engine.stop()
}

async function tellTwice(location: string): Promise<void> {
  const engine = await createEngine({ store: openStore(location), procedures: [telling], logger: silent })
  for (const id of runs) await (await engine.run(telling, undefined, { id })).result()
  await engine.stop()
}

async function answerAll(client: Client): Promise<void> {
  for (const { id } of (await client.inbox.list()).items)
    await client.inbox.answer(id, { approved: true }, { as: 'user:ana' })
}
