import { createClient, type ExecutionLog } from '@pawl/core'
import { sqlite } from '@pawl/storage-sqlite'

/** What a store file holds of a run, read from another process than the one that ran it. */
export async function readLog(file: string, run: string): Promise<ExecutionLog['execution_log']> {
  const client = createClient({ store: sqlite(file) })
  try {
    return (await client.log(run)).execution_log
  } finally {
    await client.stop()
  }
}
