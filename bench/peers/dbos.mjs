// DBOS on PostgreSQL, as its documentation sets it up: registered functions, one process, the default pool.
import { DBOS } from '@dbos-inc/dbos-sdk'

export const durability = 'kept: a commit for each step on a server with fsync on'

export async function open(url, { onStep, onEnd }) {
  const sequence = DBOS.registerWorkflow(
    async (steps) => {
      let sum = 0
      for (let i = 0; i < steps; i++)
        sum += await DBOS.runStep(
          async () => {
            onStep(i)
            return i
          },
          { name: 'step' },
        )
      onEnd(DBOS.workflowID)
      return sum
    },
    { name: 'sequence' },
  )
  const waiting = DBOS.registerWorkflow(() => DBOS.recv('go', { timeoutSeconds: 3_600 }), { name: 'waiting' })
  DBOS.setConfig({ name: 'bench', systemDatabaseUrl: url, logLevel: 'error', applicationVersion: 'v1' })
  // Takes up by itself what this executor left behind.
  await DBOS.launch()
  return {
    mostSteps: 1_000,
    async start(id, steps) {
      const handle = await DBOS.startWorkflow(sequence, { workflowID: id })(steps)
      return () => handle.getResult()
    },
    async startWaiting(id) {
      const handle = await DBOS.startWorkflow(waiting, { workflowID: id })()
      return async (value) => {
        await DBOS.send(id, value, 'go')
        return handle.getResult()
      }
    },
    close: () => DBOS.shutdown(),
  }
}
