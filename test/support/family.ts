import { type ChildProcess, fork } from 'node:child_process'
import { createClient, type ProcedureRef, ref, type Store } from '@pawl/core'
import { expect } from 'vitest'

const program = new URL('../programs/family-worker.ts', import.meta.url)

interface Options {
  readonly store: Store
  /** How the workers open the same store: a file, or the address of a database. */
  readonly place: string
  readonly parents: number
  readonly kills: number
}

/**
 * Parents and children run in different processes, which are killed in turns. In the end each call of a log has one child,
 * each child has ended once, and each parent has the sum of what its children returned.
 */
export async function killFamilies({ store, place, parents, kills }: Options): Promise<void> {
  const client = createClient({ store })
  const workers = { parent: await startWorker('parent', place), child: await startWorker('child', place) }
  const parentRef = ref<ProcedureRef<undefined, number>>('parent')
  const runs = await Promise.all(
    Array.from({ length: parents }, (_, index) => client.run(parentRef, undefined, { id: `p${index}` })),
  )
  const results = Promise.all(runs.map((run) => run.result()))
  let isDone = false
  results.then(
    () => {
      isDone = true
    },
    () => {},
  )
  for (let kill = 0; kill < kills && !isDone; kill++) {
    const kind = kill % 2 === 0 ? 'parent' : 'child'
    await new Promise((resolve) => setTimeout(resolve, 40 + ((kill * 37) % 90)))
    await end(workers[kind])
    workers[kind] = await startWorker(kind, place)
  }
  expect(await results).toEqual(runs.map(() => 20))
  const children = new Map<string, number>()
  for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
    const page = await client.list({
      procedure: 'child',
      limit: 200,
      ...(cursor === undefined ? {} : { cursor }),
    })
    for (const { id, status } of page.items) {
      expect(status).toBe('completed')
      const of = id.split('.')[0] ?? ''
      children.set(of, (children.get(of) ?? 0) + 1)
    }
    cursor = page.cursor
  }
  expect(children).toEqual(new Map(runs.map(({ id }) => [id, 4])))
  for (const worker of Object.values(workers)) await end(worker)
  await client.stop()
}

async function startWorker(kind: string, place: string): Promise<ChildProcess> {
  const worker = fork(program, [kind, place], {
    execArgv: ['--import', 'tsx', '--conditions', '@pawl/source'],
    silent: true,
  })
  await new Promise((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('exit', () => reject(new Error('the worker has ended before it was ready')))
  })
  return worker
}

async function end(worker: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => worker.once('exit', resolve))
  worker.kill('SIGKILL')
  await gone
}
