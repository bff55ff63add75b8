// Opens a store and registers a worker: `register <file>`. Writes its key.
import { connectTo } from '@pawl/core/storage'
import { sqliteStore } from '../../../../test/support/sqlite.ts'

const store = connectTo(sqliteStore(process.argv[2] ?? ''))
if (!store) throw new Error('no store')
await store.open()
console.log(await store.workers.register({ name: String(process.pid), leaseMs: 60_000 }))
await store.close()
