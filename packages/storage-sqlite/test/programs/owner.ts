// Owns a run until it is killed: `owner <file> <run id> <lease in ms>`. Writes its worker's key.
import { connectTo } from '@pawl/core/storage'
import { sqliteStore } from '../../../../test/support/sqlite.ts'
import { ownedRun } from '../support/runs.ts'

const [, , file = '', id = '', leaseMs = ''] = process.argv
const store = connectTo(sqliteStore(file))
if (!store) throw new Error('no store')
await store.open()
const { worker } = await ownedRun(store, id, Number(leaseMs))
console.log(worker)
process.stdin.resume()
