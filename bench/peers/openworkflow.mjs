// openworkflow on PostgreSQL, as its documentation sets it up: a worker in the process, default polling.
import { OpenWorkflow } from 'openworkflow'
import { BackendPostgres } from 'openworkflow/postgres'

export const durability = 'kept: a commit for each step on a server with fsync on'

export async function open(url, { onStep, onEnd }) {
  const backend = await BackendPostgres.connect(url)
  const engine = new OpenWorkflow({ backend })
  const sequence = engine.defineWorkflow({ name: 'sequence' }, async ({ input, step }) => {
    let sum = 0
    for (let i = 0; i < input.steps; i++)
      sum += await step.run({ name: `step ${i}` }, async () => {
        onStep(i)
        return i
      })
    onEnd(input.id)
    return sum
  })
  const waiting = engine.defineWorkflow({ name: 'waiting' }, async ({ input, step }) => {
    const received = await step.waitForSignal({ signal: `go ${input.id}`, timeout: '1h' })
    return received?.data ?? null
  })
  const worker = engine.newWorker({ concurrency: 200 })
  await worker.start()
  return {
    // A hard limit of its own.
    mostSteps: 990,
    async start(id, steps) {
      const handle = await sequence.run({ id, steps })
      return () => handle.result()
    },
    async startWaiting(id) {
      const handle = await waiting.run({ id })
      return async (value) => {
        // A signal nobody waits for yet is lost: it says whether it reached somebody.
        for (;;) {
          const { workflowRunIds } = await engine.sendSignal({ signal: `go ${id}`, data: value })
          if (workflowRunIds.length > 0) break
          await new Promise((resolve) => setTimeout(resolve, 50))
        }
        return handle.result()
      }
    },
    close: () => worker.stop(),
  }
}
