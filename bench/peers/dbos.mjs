// DBOS on PostgreSQL, as its documentation sets it up: registered functions, one process, the default pool.
import { DBOS } from '@dbos-inc/dbos-sdk'
import { add } from './arithmetic.mjs'
import { bytesOfTables } from './disk.mjs'

export const about = {
  title: 'DBOS',
  package: '@dbos-inc/dbos-sdk',
  settings: 'PostgreSQL; the default pool of connections',
  onKill: 'every reported step',
  onPowerLoss: 'every reported step: a commit for each, fsync on',
}

export async function open({ url }, { onStep, onWait, onEnd }) {
  const step = (i) => DBOS.runStep(async () => onStep(i), { name: 'step' })
  const receive = () => {
    onWait(DBOS.workflowID)
    return DBOS.recv('go', { timeoutSeconds: 3_600 })
  }

  const sequence = async (steps, waits) => {
    let sum = 0
    for (let i = 0; i < steps; i++) sum += await step(i)
    if (waits) sum += await receive()
    return onEnd(DBOS.workflowID, sum)
  }
  const fan = async (steps) => {
    const all = await Promise.all(Array.from({ length: steps }, (_, i) => step(i)))
    return onEnd(DBOS.workflowID, all.reduce(add))
  }
  const child = DBOS.registerWorkflow(async (i) => onStep(i), { name: 'child' })
  const parent = async (count) => {
    const begin = async (_, i) => (await DBOS.startWorkflow(child)(i)).getResult()
    const all = await Promise.all(Array.from({ length: count }, begin))
    return onEnd(DBOS.workflowID, all.reduce(add))
  }
  const workflows = {
    parent: DBOS.registerWorkflow(parent, { name: 'parent' }),
    sequence: DBOS.registerWorkflow(sequence, { name: 'sequence' }),
    fan: DBOS.registerWorkflow(fan, { name: 'fan' }),
  }
  DBOS.setConfig({ name: 'bench', systemDatabaseUrl: url, logLevel: 'error', applicationVersion: 'v1' })
  // Takes up by itself what this executor left behind.
  await DBOS.launch()

  return {
    async start(name, id, steps, waits = false) {
      const handle = await DBOS.startWorkflow(workflows[name], { workflowID: id })(steps, waits)
      return () => handle.getResult()
    },
    signal: (id, value) => DBOS.send(id, value, 'go'),
    diskBytes: () => bytesOfTables(url),
  }
}
