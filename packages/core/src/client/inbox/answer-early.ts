import type { Actor } from '../../base/people.ts'
import { checkObject } from '../../checks/options.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import { decode, encodeAround } from '../../events/payload.ts'
import type { GivenAnswer } from '../../events/payloads.ts'
import { understand } from '../../ports/rows.ts'
import type { Message } from '../../ports/store/mail.ts'
import type { RunKey } from '../../ports/store/runs.ts'
import type { StorePort } from '../../ports/store/store.ts'
import type { Connection } from '../connection.ts'
import { damagedError } from '../damaged.ts'
import { knownRun } from '../find-run.ts'
import type { Mailer } from '../mailer.ts'
import { explainUnread } from '../unread.ts'
import { answerOpen, closedError, type Giver } from './answer-open.ts'

/** Stores an answer until its ask is opened, where it is validated, or the run ends. The first answer counts. */
export async function answerEarly(
  connection: Connection,
  mailer: Mailer,
  { run, key }: { readonly run: string; readonly key: string },
  given: unknown,
  giver: Giver,
): Promise<void> {
  const store = await connection.store()
  const ask = `${run}/${key}`
  if (!giver.by.startsWith('user:'))
    throw new PawlError('answer-forbidden', { ask }, { next: 'The answer was not stored.' })
  // The person was shown another question: this run has not asked any under the key.
  if (giver.digest !== undefined) throw new PawlError('ask-changed', { ask })
  const answer = checkObject('answer of inbox.answer', given)
  const payload = encodeAround({ answer, ...giver } satisfies GivenAnswer, answer, 'answer')
  const sent = await mailer.send({ run, kind: 'early', name: key, key: `early:${key}`, by: null, payload })
  switch (sent.outcome) {
    case 'stored':
      return
    case 'asked': {
      const row = await store.asks.find(run, sent.position)
      if (row === null) throw new PawlError('ask-not-found', { ask })
      return answerOpen(connection, mailer, row, given, giver)
    }
    case 'duplicate': {
      const row = await store.asks.findByKey(run, key)
      // The earlier answer was invalid and was discarded.
      if (row?.status === 'open') return answerOpen(connection, mailer, row, given, giver)
      throw row === null
        ? await earlierError(store, run, sent.run, key)
        : closedError(connection, row, await store.now())
    }
    case 'missing':
      throw new PawlError('run-not-found', { run })
    case 'ended':
      throw new PawlError('run-ended', { run, status: sent.state })
    case 'damaged':
      throw damagedError(run, sent)
  }
}

/** Explains why an answer by key was rejected although no ask has that key yet. */
async function earlierError(store: StorePort, id: string, run: RunKey, key: string): Promise<unknown> {
  try {
    const row = await store.runs.find(id)
    const state = row === null ? 'live' : knownRun(row).state
    if (state !== 'live') return new PawlError('run-ended', { run: id, status: state })
    const earlier = (await store.mail.list(run, 0)).find(({ kind, name }) => kind === 'early' && name === key)
    if (earlier === undefined) return new PawlError('ask-closed', { status: 'answered', winner: undefined })
    return understand(() => answeredError(earlier))
  } catch (error) {
    return explainUnread(id, `What was sent to run ${id}`, error)
  }
}

function answeredError(earlier: Message): PawlError {
  const by = (decode(earlier.payload) as GivenAnswer).by as Actor
  const at = new Date(earlier.at)
  return new PawlError(
    'ask-closed',
    { status: 'answered', winner: { by, at } },
    {
      what: `${by} answered before the ask was opened, at ${at.toISOString()}; that answer is validated when the ask opens.`,
      remedy:
        'Check the ask once it is open: if the earlier answer was invalid, the ask is open and accepts another one.',
    },
  )
}
