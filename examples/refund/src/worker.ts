// The worker: executes the runs of this example in the store, and works until it is stopped or killed.
import { createEngine } from '@pawl/core'
import { openStore } from '../../shared/src/store.ts'
import { correctLine } from './correction.ts'
import { fileOf } from './folder.ts'
import { sendLetter } from './letter.ts'
import { refundOrders } from './refund.ts'

const engine = await createEngine({
  store: await openStore(fileOf('refund.db')),
  procedures: [refundOrders, correctLine, sendLetter],
  escalateTo: 'role:head-of-accounts',
})
console.log(`worker ${process.pid} is ready`)

const stop = (): void => void engine.stop().then(() => process.exit())
process.once('SIGINT', stop)
process.once('SIGTERM', stop)
process.once('disconnect', stop) // the parent process is gone
