import { postgres } from '@pawl/storage-postgres'
import { createOwned, open } from '../support/units.ts'

// Owns a run until it is killed: `owner <url> <run id> <lease in ms>`. Writes its worker's key.
const [, , url = '', id = '', leaseMs = ''] = process.argv
const store = await open(postgres(url))
const worker = await store.workers.register({ name: 'owner', leaseMs: Number(leaseMs) })
await createOwned(store, worker, [id])
console.log(worker)
process.stdin.resume()
