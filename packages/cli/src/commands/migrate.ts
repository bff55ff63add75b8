import { createClient } from '@pawl/core'
import { refuseServer } from '../config/find.ts'
import { describeStore, toStore } from '../config/store.ts'
import type { Context } from '../context.ts'
import { type ExitStatus, exit } from '../exit.ts'

/** Brings the tables of the store up to date, as the first engine or client of a new version does. */
export async function migrate(context: Context): Promise<ExitStatus> {
  const found = await context.located()
  refuseServer('migrate', found)
  const { store } = found
  const client = createClient({ store: await toStore(store.value) })
  try {
    await client.list({ limit: 1 })
  } finally {
    await client.stop()
  }
  const { out } = context
  if (out.json) out.print(JSON.stringify({ migrated: true }))
  else out.note(`  ${describeStore(store.value)} is up to date`)
  return exit.done
}
