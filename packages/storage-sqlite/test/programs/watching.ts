// Watches a store and does nothing else: `watching <file>`.
import { connectTo } from '@pawl/core/storage'
import { sqliteStore } from '../../../../test/support/sqlite.ts'

const store = connectTo(sqliteStore(process.argv[2] ?? ''))
if (!store) throw new Error('no store')
await store.open()
store.watch(() => undefined)
await store.workers.register({ name: 'w', leaseMs: 1000 })
console.log('watching')
