// LangGraph's functional API on PostgreSQL with durability 'sync', the strongest it has.
import { Command, entrypoint, interrupt, task } from '@langchain/langgraph'
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres'

export const durability = 'the last tasks are not: written behind, also with durability "sync"'

export async function open(url, { onStep, onEnd }) {
  const checkpointer = PostgresSaver.fromConnString(url)
  await checkpointer.setup()
  const step = task('step', async (i) => {
    onStep(i)
    return i
  })
  const sequence = entrypoint({ name: 'sequence', checkpointer }, async ({ id, steps }) => {
    let sum = 0
    for (let i = 0; i < steps; i++) sum += await step(i)
    onEnd(id)
    return sum
  })
  const waiting = entrypoint({ name: 'waiting', checkpointer }, async () => interrupt('go'))
  const config = (id) => ({ configurable: { thread_id: id }, durability: 'sync', recursionLimit: 100_000 })
  return {
    mostSteps: 1_000,
    async start(id, steps) {
      const result = sequence.invoke({ id, steps }, config(id))
      return () => result
    },
    /** Nothing takes up what a dead process left: the caller invokes it again. */
    resume: (id) => sequence.invoke(null, config(id)),
    async startWaiting(id) {
      await waiting.invoke(1, config(id))
      return (value) => waiting.invoke(new Command({ resume: value }), config(id))
    },
    close: () => checkpointer.end(),
  }
}
