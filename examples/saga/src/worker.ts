// A worker of the demo. With SAGA_HANG it stops in the middle of that undo, until it is killed.
import { join } from 'node:path'
import { createEngine } from '@pawl/core'
import { sqlite } from '@pawl/storage-sqlite'
import { Ledger } from './ledger.ts'
import { createOrder } from './order.ts'

const folder = process.env['SAGA_FOLDER'] ?? ''
const ledger = new Ledger(join(folder, 'ledger.jsonl'))
const order = createOrder({
  ledger,
  async afterUndo(what) {
    console.log(`undoing: ${what}`)
    if (process.env['SAGA_HANG'] === what) await new Promise(() => {})
  },
})
await createEngine({ store: sqlite(join(folder, 'saga.db')), procedures: [order], lease: '1s' })
console.log('working')
process.on('disconnect', () => process.exit())
