// openworkflow on PostgreSQL, as its documentation sets it up: a worker in the process, default polling.
import { setTimeout as sleep } from 'node:timers/promises'
import { OpenWorkflow } from 'openworkflow'
import { BackendPostgres } from 'openworkflow/postgres'
import { add } from './arithmetic.mjs'
import { bytesOfTables } from './disk.mjs'

export const about = {
  title: 'openworkflow',
  package: 'openworkflow',
  settings: 'PostgreSQL; up to 200 runs at once in the worker, default polling and lease (30 s)',
  onKill: 'every reported step',
  onPowerLoss: 'every reported step: a commit for each, fsync on',
  limit:
    'a signal that arrives while a run is being parked wakes it only after its wait times out, so in W5, W6 and W7 signals are sent after the run is parked',
}

/** The wait is one, too. */
export const maxSteps = 990
export const whyMostSteps = 'its limit is 1,000 a run'

export async function open({ url }, { onStep, onWait, onEnd }) {
  const backend = await BackendPostgres.connect(url)
  const engine = new OpenWorkflow({ backend })
  const child = engine.defineWorkflow({ name: 'child' }, async ({ input }) => onStep(input.i))
  const workflows = {
    parent: engine.defineWorkflow({ name: 'parent' }, async ({ input, step }) => {
      const begin = (_, i) => step.runWorkflow(child.workflow.spec, { i }, { name: `child ${i}` })
      const all = await Promise.all(Array.from({ length: input.steps }, begin))
      return onEnd(input.id, all.reduce(add))
    }),
    sequence: engine.defineWorkflow({ name: 'sequence' }, async ({ input, step }) => {
      let sum = 0
      for (let i = 0; i < input.steps; i++)
        sum += await step.run({ name: `step ${i}` }, async () => onStep(i))
      if (input.waits) {
        onWait(input.id)
        const received = await step.waitForSignal({ signal: `go ${input.id}`, timeout: '1h' })
        sum += received.data
      }
      return onEnd(input.id, sum)
    }),
    fan: engine.defineWorkflow({ name: 'fan' }, async ({ input, step }) => {
      const begin = (_, i) => step.run({ name: `step ${i}` }, async () => onStep(i))
      const all = await Promise.all(Array.from({ length: input.steps }, begin))
      return onEnd(input.id, all.reduce(add))
    }),
  }
  const worker = engine.newWorker({ concurrency: 200 })
  await worker.start()
  const handles = new Map()

  return {
    async start(name, id, steps, waits = false) {
      const handle = await workflows[name].run({ id, steps, waits })
      handles.set(id, handle)
      return () => handle.result()
    },
    /** Resolves when no worker has it any more. */
    async parkWithError(id) {
      const { workflowRun } = handles.get(id)
      for (;;) {
        const { workerId } = await backend.getWorkflowRun({ workflowRunId: workflowRun.id })
        if (workerId === null) return
        await sleep(10)
      }
    },
    async signal(id, data) {
      // A signal nobody waits for yet is lost: it says whether it reached somebody.
      for (;;) {
        const { workflowRunIds } = await engine.sendSignal({ signal: `go ${id}`, data })
        if (workflowRunIds.length > 0) return
        await sleep(50)
      }
    },
    diskBytes: () => bytesOfTables(url),
  }
}
