import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Client, createClient, type Procedure, ref } from '@pawl/core'
import { connectTo, type StorePort } from '@pawl/core/storage'
import { expect } from 'vitest'
import { bundle } from './bundle.ts'
import { openStore } from './kill/open-store.ts'
import type { KillMoment } from './kill/sabotage.ts'
import { WorkerProcess } from './kill/worker-process.ts'

type Kind = 'parent' | 'child'

const parent = ref<Procedure<undefined, number>>('parent')

/** How many children each parent has, and how often it is told of an end. */
const childrenOfParent = 4
/** More than a worker makes; its heartbeats count. */
const maxWrites = 200
const source = new URL('../programs/family-worker.ts', import.meta.url).pathname

/**
 * Parents and children run in different processes, which are killed in turns. In the end each call of a log has one child,
 * each child has ended once, and each parent has the sum of what its children returned.
 */
export async function killFamilies(options: {
  /** A file, or the URL of a database. */
  readonly place: string
  readonly parents: number
  readonly kills: number
}): Promise<void> {
  const { place, parents, kills } = options
  const client = createClient({ store: openStore(place) })
  const program = await bundle(source)
  const start = (kind: Kind): WorkerProcess => new WorkerProcess(program, [kind, place])
  const workers = { parent: start('parent'), child: start('child') }
  await Promise.all([workers.parent.ready(), workers.child.ready()])
  const runs = await Promise.all(
    Array.from({ length: parents }, (_, index) => client.run(parent, undefined, { id: `p${index}` })),
  )
  const results = Promise.all(runs.map((run) => run.result()))
  let isDone = false
  const done = (): void => {
    isDone = true
  }
  results.then(done, done)
  for (let kill = 0; kill < kills && !isDone; kill++) {
    const kind = kill % 2 === 0 ? 'parent' : 'child'
    await new Promise((resolve) => setTimeout(resolve, 40 + ((kill * 37) % 90)))
    await workers[kind].kill()
    workers[kind] = start(kind)
    await workers[kind].ready()
  }
  expect(await results).toEqual(runs.map(() => 20))
  const port = await connect(place)
  for (const { id } of runs) expect(await findFamilyFaults(client, port, id)).toEqual([])
  for (const worker of Object.values(workers)) await worker.kill()
  await Promise.all([client.stop(), port.close(), rm(join(program, '..'), { recursive: true })])
}

async function connect(place: string): Promise<StorePort> {
  const port = connectTo(openStore(place)) as StorePort
  await port.open()
  return port
}

/** Whether the children of an ended parent are those of its log, and it was told of each end once. */
async function findFamilyFaults(client: Client, port: StorePort, id: string): Promise<readonly string[]> {
  const children = (await client.list({ parent: id, limit: 200 })).items
  const { execution_log: log } = await client.log(id)
  const created = log
    .filter(({ type }) => type === 'child' || type === 'spawn')
    .map(({ position }) => position)
  const positions = children.map((child) => child.parent?.position ?? -1).sort((a, b) => a - b)
  const all = (await client.list({ procedure: 'child', limit: 200 })).items.filter((one) =>
    one.id.startsWith(`${id}.`),
  )
  const row = await port.runs.find(id)
  // The end of the spawned child may have been read, if it came before the parent waited.
  const told = [childrenOfParent, childrenOfParent - 1]
  return [
    JSON.stringify(positions) !== JSON.stringify(created) &&
      `the log of ${id} creates children at ${created.join()}, and they are of ${positions.join()}`,
    all.length !== children.length &&
      `${all.length} children of ${id} are there, ${children.length} with their parent`,
    children.some(({ status }) => status !== 'completed') && `not all children of ${id} have completed`,
    !told.includes(row?.mail ?? 0) && `${id} was told ${row?.mail} times of an end`,
  ].filter((fault) => fault !== false)
}

/** A place of its own for each round. */
export type MakePlace = () => Promise<{ readonly location: string; readonly remove: () => Promise<void> }>

export interface EveryWrite {
  readonly makePlace: MakePlace
  /** Which of the workers is killed. */
  readonly kind: Kind
  readonly when: KillMoment
  /** At which writes. Default: at each, up to the end of the runs. */
  readonly at?: readonly number[]
  readonly env?: Readonly<Record<string, string>>
}

/**
 * A family and an account with updates run from start to end, once for each write of one worker, which kills itself around it. A
 * second worker finishes what is left. Returns the number of kills, and what is wrong.
 */
export async function killFamilyAtEveryWrite(
  options: EveryWrite,
): Promise<{ readonly kills: number; readonly faults: readonly string[] }> {
  const { at = Array.from({ length: maxWrites }, (_, i) => i + 1) } = options
  const program = await bundle(source)
  const faults: string[] = []
  let kills = 0
  for (const n of at) {
    const one = await killAt(options, program, n)
    faults.push(...one.faults.map((fault) => `killed ${options.when} write ${n}: ${fault}`))
    if (!one.wasKilled) break
    kills++
  }
  await rm(join(program, '..'), { recursive: true })
  return { kills, faults }
}

async function killAt(
  { makePlace, kind, when, env = {} }: EveryWrite,
  program: string,
  n: number,
): Promise<{ readonly wasKilled: boolean; readonly faults: readonly string[] }> {
  const place = await makePlace()
  const client = createClient({ store: openStore(place.location) })
  const start = (of: Kind, more = env): WorkerProcess =>
    new WorkerProcess(program, [of, place.location], more)
  const run = await client.run(parent, undefined, { id: 'p' })
  const replies = useAccount(client)
  const victim = start(kind, { ...env, KILL_AT: `${n}:${when}` })
  const others = [start(kind === 'parent' ? 'child' : 'parent')]
  const result = run.result().catch(String)
  const ended = Promise.all([result, replies])
  await Promise.race([victim.ended(), ended])
  const wasKilled = !victim.isRunning
  await victim.kill()
  // It does nothing wrong, and meets what the other one left.
  others.push(start(kind, {}))
  const [sum, accountFaults] = await ended
  const port = await connect(place.location)
  const faults = [
    ...(sum === 20 ? [] : [`the parent has returned ${sum}`]),
    ...(await findFamilyFaults(client, port, 'p')),
    ...accountFaults,
  ]
  for (const worker of others) await worker.kill()
  await Promise.all([client.stop(), port.close()])
  await place.remove()
  return { wasKilled, faults }
}

/** Sends updates, each twice, to a new account and closes it. Resolves with what is wrong. */
async function useAccount(client: Client): Promise<readonly string[]> {
  const run = await client.run(ref<Procedure<undefined, readonly string[]>>('account'), undefined, {
    id: 'account',
  })
  const account = client.get('account')
  const add = (n: number): Promise<unknown> => account.update('add', { id: `u${n}`, n }, { id: `u${n}` })
  const replies = await Promise.all([add(1), add(1), add(2), add(2)])
  await account.signal('close', null, { id: 'close' })
  const added = await run.result()
  const repeated = [await add(1), await add(2)]
  const sum = await account.state('sum')
  const [one, , two] = replies
  const isSame = replies[1] === one && replies[3] === two && repeated[0] === one && repeated[1] === two
  return [
    !isSame && `one update has several replies: ${[...replies, ...repeated].join()}`,
    added.toSorted().join() !== 'u1,u2' && `the updates handled are ${added.join()}`,
    sum !== 3 && `the sum is shown as ${sum}`,
  ].filter((fault) => fault !== false)
}
