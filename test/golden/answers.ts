import { type Ask, type Client, PawlError } from '@pawl/core'
import { cancelMe, leftOpen } from './procedures.ts'
import { sendUpdates } from './together.ts'

const as = { as: 'user:ana' } as const

/** What is said to whatever the procedures ask. */
const answers: { readonly [kind in Ask['kind']]?: (ask: Ask) => object } = {
  approve: ({ message }) => {
    if (message.startsWith('Refuse')) return { approved: false }
    return { approved: true, ...(message.startsWith('Raise') ? { params: { price: 6 } } : {}) }
  },
  input: () => ({ value: { name: 'Bob' } }),
  select: ({ message }) => {
    if (message.includes('Continue with the plan'))
      return { choice: /refused|failed/.test(message) ? 'stop' : 'continue' }
    return { choice: message === 'How?' ? 'cash' : 'no' }
  },
  review: () => ({ choice: 'approve', artifact: { text: 'a better draft' } }),
  escalate: () => ({ choice: 'retry' }),
  decide: () => ({ choice: 'approve' }),
}

/** Ignores that the run has ended or the client was stopped, and nothing else: a question without an answer would wait for ever. */
export function ignoreEnd(error: unknown): void {
  if (PawlError.is(error, 'run-ended') || PawlError.is(error, 'engine-stopped')) return
  if (error instanceof Error && error.message.endsWith('is not open.')) return
  throw error
}

/** Answers what the run asks, as it comes; to be ended by stopping the client. */
export async function answerAll(client: Client, run: string): Promise<void> {
  for (;;) {
    const ask = await client.inbox.next({ run })
    if (ask.key === leftOpen) return
    if (ask.key === cancelMe) return client.cancel(run, 'as recorded', { by: 'user:ana' })
    const answer = answers[ask.kind]?.(ask)
    if (answer === undefined) throw new Error(`there is no answer to "${ask.message}"`)
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
  if (name !== 'races' && name !== 'scopes' && name !== 'continuing') return
  const signal = client.get(run).signal as (
    name: string,
    payload: unknown,
    options: object,
  ) => Promise<unknown>
  for (const go of ['1', '2', '3']) await signal('go', go, { id: `go ${go}` })
  if (name === 'races') await signal('stop', null, { id: 'stop' })
}
