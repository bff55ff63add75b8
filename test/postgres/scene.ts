import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Client, createClient } from '@pawl/core'
import { afterAll, onTestFinished } from 'vitest'
import { bundle, temporaryFolder } from '../support/bundle.ts'
import { type Acknowledged, acknowledgeNothing, check, type Findings } from '../support/kill/check.ts'
import { openStore } from '../support/kill/open-store.ts'
import { makeOrder } from '../support/kill/order.ts'
import { makePostgresPlace, type PostgresPlace } from '../support/kill/postgres-place.ts'
import { WorkerProcess } from '../support/kill/worker-process.ts'

export interface WorkerOptions {
  /** Default '1s'. */
  readonly lease?: string
  readonly stepMs?: number
  /** A file that its steps wait for. */
  readonly gate?: string
  readonly env?: Readonly<Record<string, string>>
}

/** One database, a client in this process, and workers in theirs. All are gone when the test has ended. */
export interface Scene {
  readonly place: PostgresPlace
  readonly client: Client
  readonly order: ReturnType<typeof makeOrder>
  readonly ledger: string
  startWorker(options?: WorkerOptions): Promise<WorkerProcess>
  /** Another program of test/programs, with the database as its first argument. Resolves when it has ended. */
  run(program: string, ...args: readonly string[]): Promise<void>
  /** How many runs a worker owns. */
  countOwned(worker: WorkerProcess): Promise<number>
  check(acknowledged?: Partial<Acknowledged>): Promise<Findings>
}

const bundles = new Map<string, Promise<string>>()
afterAll(async () => {
  for (const file of bundles.values()) await rm(join(await file, '..'), { recursive: true })
})

function find(program: string): Promise<string> {
  const file = bundles.get(program) ?? bundle(new URL(`../programs/${program}.ts`, import.meta.url).pathname)
  bundles.set(program, file)
  return file
}

/** @param server another server than the tests' */
export async function setScene(server?: string): Promise<Scene> {
  const place = await makePostgresPlace(server)
  onTestFinished(() => place.remove())
  const folder = await temporaryFolder()
  onTestFinished(() => rm(folder, { recursive: true }))
  const ledger = join(folder, 'ledger.ndjson')
  const client = createClient({ store: openStore(place.location) })
  onTestFinished(() => client.stop())

  return {
    place,
    client,
    ledger,
    order: makeOrder(ledger),
    async startWorker({ lease = '1s', stepMs = 0, gate, env = {} } = {}) {
      const args = [place.location, ledger, lease]
      const worker = new WorkerProcess(await find('kill-worker'), args, {
        STEP_MS: String(stepMs),
        ...(gate === undefined ? {} : { GATE: gate }),
        ...env,
      })
      onTestFinished(() => worker.kill())
      await worker.ready()
      return worker
    },
    async run(program, ...args) {
      const child = new WorkerProcess(await find(program), [place.location, ...args])
      onTestFinished(() => child.kill())
      await child.ended()
    },
    async countOwned({ pid }) {
      const { rows } = await place.database.owner.query<{ count: number }>(
        `select count(*)::int from pawl.runs join pawl.workers using (worker) where name like '% ${pid}'`,
      )
      return rows[0]?.count ?? 0
    },
    check: async (acknowledged = {}) =>
      check(await place.readRows(), ledger, {
        ...acknowledgeNothing(),
        ...acknowledged,
      }),
  }
}
