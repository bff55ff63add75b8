// Answers the question of one run and pays for it, from a process that executes nothing. Arguments: where runs
// are kept, the run.
import { createClient, ref } from '@pawl/core'
import { openStore } from '../support/kill/open-store.ts'
import type { makeOrder } from '../support/kill/order.ts'

const [, , location = '', id = ''] = process.argv
const client = createClient({ store: openStore(location) })
const ask = await client.inbox.next({ run: id })
await client.inbox.answer(ask.id, { approved: true }, { as: 'user:customer' })
await client.get(ref<ReturnType<typeof makeOrder>>('order'), id).signal('paid', { cents: 4500 })
await client.stop()
