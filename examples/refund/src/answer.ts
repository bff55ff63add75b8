// Answers the next open question from its own process, as an inbox or a chat bot would.
import { parseArgs } from 'node:util'
import { createClient, PawlError } from '@pawl/core'
import { openStore } from '../../shared/src/store.ts'
import { fileOf } from './folder.ts'

const { values } = parseArgs({
  options: { reject: { type: 'boolean' }, amount: { type: 'string' }, run: { type: 'string' } },
})
const client = createClient({ store: await openStore(fileOf('refund.db')) })
try {
  const ask = await client.inbox.next({
    timeout: '10s',
    ...(values.run === undefined ? {} : { run: values.run }),
  })
  console.log(ask.message)
  const params =
    values.amount === undefined ? undefined : { ...(ask.params as object), amount: Number(values.amount) }
  await client.inbox.answer(ask.id, values.reject ? { approved: false } : { approved: true, params }, {
    as: 'user:ana',
  })
  console.log(
    `user:ana ${values.reject ? 'rejected' : 'approved'}${params === undefined ? '' : ` ${params.amount} EUR`}`,
  )
} catch (error) {
  if (!PawlError.is(error)) throw error
  console.error(error.message)
  process.exitCode = 1
} finally {
  await client.stop()
}
