import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createClient, createEngine, procedure } from '@pawl/core'
import { expect } from 'vitest'
import { z } from 'zod'
import { bundle } from './bundle.ts'
import { openStore } from './kill/open-store.ts'
import { WorkerProcess } from './kill/worker-process.ts'

const brief = procedure({ name: 'brief', signals: { tick: z.null() } }, async () => 'done')

/** A worker is killed while its run holds clients back: they are let in again, and the next worker ends the run. */
export async function killWhileHeld(location: string): Promise<void> {
  const program = await bundle(new URL('../programs/holding-worker.ts', import.meta.url).pathname)
  await new WorkerProcess(program, [location]).ended()
  const client = createClient({ store: openStore(location) })
  const run = client.get(brief, 'b')
  // No worker is there: the hold ends with its time.
  await run.signal('tick', null)
  expect(await run.status()).toMatchObject({ status: 'running' })
  const engine = await createEngine({ store: openStore(location), procedures: [brief] })
  expect(await run.result()).toBe('done')
  await Promise.all([engine.stop(), client.stop(), rm(join(program, '..'), { recursive: true })])
}
