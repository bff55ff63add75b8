// LangGraph's functional API on PostgreSQL with durability 'sync', its strongest.
import { Command, entrypoint, interrupt, task } from '@langchain/langgraph'
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres'
import { add } from './arithmetic.mjs'
import { bytesOfTables } from './disk.mjs'

export const about = {
  title: 'LangGraph',
  package: '@langchain/langgraph',
  settings: "PostgreSQL; functional API, durability 'sync', its strongest",
  onKill:
    'what was written by then: tasks of an entrypoint are written asynchronously, also with `sync`, and its caller must invoke it again',
  onPowerLoss: 'what was written by then',
  limit:
    'its steps are not on disk when they are reported, so W1, W2 and W3 are less work for it than for the others',
}

/** By workload. */
export const lessWork = { W1: 'written behind', W2: 'written behind', W3: 'written behind' }

export async function open({ url }, { onStep, onWait, onEnd }) {
  const checkpointer = PostgresSaver.fromConnString(url)
  await checkpointer.setup()
  const step = task('step', async (i) => onStep(i))
  const entrypoints = {
    sequence: entrypoint({ name: 'sequence', checkpointer }, async ({ id, steps, waits }) => {
      let sum = 0
      for (let i = 0; i < steps; i++) sum += await step(i)
      if (waits) {
        onWait(id)
        sum += interrupt('go')
      }
      return onEnd(id, sum)
    }),
    fan: entrypoint({ name: 'fan', checkpointer }, async ({ id, steps }) => {
      const all = await Promise.all(Array.from({ length: steps }, (_, i) => step(i)))
      return onEnd(id, all.reduce(add))
    }),
  }
  const config = (id) => ({ configurable: { thread_id: id }, durability: 'sync', recursionLimit: 100_000 })
  const signalled = new Map()

  return {
    async start(name, id, steps, waits = false) {
      const invoked = entrypoints[name].invoke({ id, steps, waits }, config(id))
      if (!waits) return () => invoked
      await invoked
      return () => signalled.get(id)
    },
    async signal(id, value) {
      signalled.set(id, entrypoints.sequence.invoke(new Command({ resume: value }), config(id)))
    },
    /** Nothing takes up what a dead process left: its caller does, and begins anew where nothing was written. */
    async resume(id, steps) {
      const state = await entrypoints.sequence.getState(config(id))
      const input = state.createdAt === undefined ? { id, steps } : null
      await entrypoints.sequence.invoke(input, config(id))
    },
    diskBytes: () => bytesOfTables(url),
  }
}
