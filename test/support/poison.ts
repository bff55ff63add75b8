import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Client, createClient, type Procedure, ref } from '@pawl/core'
import { connectTo, type RunRow, type StorePort } from '@pawl/core/storage'
import { onTestFinished } from 'vitest'
import { bundle } from './bundle.ts'
import { openStore } from './kill/open-store.ts'
import { WorkerProcess } from './kill/worker-process.ts'

const work = ref<Procedure<undefined, string>>('work')

/** Runs of `programs/poison-worker.ts`, and workers of them that are started one after another. */
export interface PoisonScene {
  readonly client: Client
  readonly ids: readonly string[]
  startWorker(env: Readonly<Record<string, string>>): WorkerProcess
  find(id: string): Promise<RunRow>
  /** Starts workers until the run is quarantined; each is killed by it. Returns how many died. */
  untilQuarantined(poison: string): Promise<number>
}

/** @param location a file, or the URL of a PostgreSQL database */
export async function preparePoison(location: string, runs: number): Promise<PoisonScene> {
  const program = await bundle(new URL('../programs/poison-worker.ts', import.meta.url).pathname)
  const client = createClient({ store: openStore(location) })
  const port = connectTo(openStore(location)) as StorePort
  await port.open()
  const ids = Array.from({ length: runs }, (_, index) => `run ${index}`)
  for (const id of ids) await client.run(work, undefined, { id })
  const workers: WorkerProcess[] = []
  onTestFinished(async () => {
    for (const worker of workers) await worker.kill()
    await client.stop()
    await port.close()
    await rm(join(program, '..'), { recursive: true })
  })
  const startWorker = (env: Readonly<Record<string, string>>): WorkerProcess => {
    const worker = new WorkerProcess(program, [location], env)
    workers.push(worker)
    return worker
  }
  return {
    ...{ client, ids, startWorker },
    async find(id) {
      const row = await port.runs.find(id)
      if (row === null) throw new Error(`there is no ${id}`)
      return row
    },
    async untilQuarantined(poison) {
      const isQuarantined = client
        .get(poison)
        .result()
        .then(() => false)
        .catch((error: { readonly code: string }) => error.code === 'run-quarantined')
      for (let deaths = 0; deaths < 100; deaths++) {
        const worker = startWorker({ POISON: poison })
        if (await Promise.race([isQuarantined, worker.ended().then(() => false)])) {
          await worker.kill()
          return deaths
        }
      }
      throw new Error(`${poison} was not quarantined`)
    },
  }
}
