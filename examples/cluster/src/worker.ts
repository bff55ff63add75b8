// A worker: executes orders of the database that PAWL_STORE names, beside any number of others.
import { createEngine } from '@pawl/core'
import { postgres } from '@pawl/storage-postgres'
import { Bank } from './bank.ts'
import { makeOrder } from './order.ts'

const url = process.env['PAWL_STORE'] ?? ''
const bank = new Bank(url)
const engine = await createEngine({
  store: postgres(url),
  procedures: [makeOrder(bank)],
  // How long a dead worker's orders stay where they are. In production '10s', the default, will do.
  lease: '2s',
})
console.log(`worker ${process.pid} is ready`)

const stop = (): void => void engine.stop().then(() => process.exit())
process.once('SIGINT', stop)
process.once('SIGTERM', stop)
process.once('disconnect', stop) // the parent process is gone
