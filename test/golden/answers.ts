import { type Ask, type Client, PawlError } from '@pawl/core'
import { cancelMe, leftOpen } from './procedures.ts'
import { sendUpdates } from './together.ts'

const as = { as: 'user:ana' } as const

/** What is said to whatever the procedures ask. */
const answers: { readonly [kind in Ask['kind']]?: (ask: Ask) => object } = {
  approve: () => ({ approved: true }),
  input: () => ({ value: { name: 'Bob' } }),
  select: ({ message }) => ({ choice: message === 'How?' ? 'cash' : 'no' }),
  review: () => ({ choice: 'approve', artifact: { text: 'a better draft' } }),
  escalate: () => ({ choice: 'retry' }),
}

/** Answers what the run asks, as it comes; to be ended by stopping the client. */
export async function answerAll(client: Client, run: string): Promise<void> {
  for (;;) {
    const ask = await client.inbox.next({ run })
    if (ask.key === leftOpen) return
    if (ask.key === cancelMe) return client.cancel(run, 'as recorded', { by: 'user:ana' })
    const answer = answers[ask.kind]?.(ask)
    if (answer === undefined) throw new Error(`nobody knows what to say to "${ask.message}"`)
    await client.inbox.answer(ask.id, answer as { approved: true }, as).catch((error) => {
      // Its own deadline was faster.
      if (!PawlError.is(error, 'ask-closed')) throw error
    })
  }
}

/** Sends all that any procedure may ever receive. */
export async function sendAll(
  client: Client,
  { name }: { readonly name: string },
  run: string,
): Promise<void> {
  if (name === 'updating') return sendUpdates(client, run)
  if (name !== 'races' && name !== 'scopes') return
  const signal = client.get(run).signal as (
    name: string,
    payload: unknown,
    options: object,
  ) => Promise<unknown>
  for (const go of ['1', '2', '3']) await signal('go', go, { id: `go ${go}` })
  if (name === 'races') await signal('stop', null, { id: 'stop' })
}
