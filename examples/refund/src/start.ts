// Starts a run, as a web server or a cron job would: without the code of the procedure, only its name and types.
import { createClient, ref } from '@pawl/core'
import { openStore } from '../../shared/src/store.ts'
import { bookFile } from './book.ts'
import { fileOf } from './folder.ts'
import type { refundOrders } from './refund.ts'

const client = createClient({ store: await openStore(fileOf('refund.db')) })
const book = process.argv[2] ?? bookFile
const run = await client.run(ref<typeof refundOrders>('refund-orders'), { book })
console.log(`started run ${run.id} with ${book}`)
await client.stop()
