// The host of the reviewers' queue: takes the questions out, and puts the answers in. It runs no procedure.
import { parseArgs } from 'node:util'
import { createClient } from '@pawl/core'
import { openStore } from '../../shared/src/store.ts'
import { hasTerminal, settleInTerminal } from '../../shared/src/terminal.ts'
import { reviewers } from './greet.ts'

const { values } = parseArgs({
  options: { choice: { type: 'string' }, comment: { type: 'string' }, as: { type: 'string' } },
})
const client = createClient({ store: await openStore('.pawl/greeting.db') })
const as = `user:${values.as ?? 'reviewer'}` as const
const { items } = await client.inbox.list({ to: reviewers })
console.log(`${items.length} waiting in ${reviewers}`)
for (const ask of items) {
  if (values.choice === undefined && hasTerminal()) await settleInTerminal(client, ask, as)
  else
    await client.inbox.answer(ask.id, { choice: values.choice ?? 'approve', comment: values.comment }, { as })
  console.log(`${ask.run}: ${(await client.inbox.get(ask.id))?.status}`)
}
await client.stop()
