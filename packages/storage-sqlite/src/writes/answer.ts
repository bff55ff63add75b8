import { type Answered, type NewAnswer, type RunKey, refuseMessage } from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'
import type { AskReads } from '../reads/asks.ts'
import type { AskNames } from './ask-names.ts'
import type { FeedWrites } from './feed.ts'
import type { LeaveMessage } from './message.ts'
import { answerColumns } from './rows.ts'

export type Answer = (answer: NewAnswer, at: number) => Answered

export function prepareAnswer(
  database: Database,
  { readAsk }: AskReads,
  names: AskNames,
  feed: FeedWrites,
  leave: LeaveMessage,
): Answer {
  const findRun = database.prepare<[string], { run: RunKey; state: number }>(
    'select run, state from runs where id = ?',
  )
  const close = database.prepare(
    `update asks set status = 1, closed_at = ?, ${answerColumns.assigned}
     where run = ? and position = ? and status = 0 and (closes_at is null or closes_at > ?)`,
  )
  return (given, at) => {
    const { run: id, position, payload } = given
    const found = findRun.get(id)
    if (!found) return { outcome: 'missing' }
    const { run, state } = found
    if (state === 0 && close.run(at, ...answerColumns.valuesOf(given), run, position, at).changes === 1) {
      names.remove(run, position)
      feed.tell('ask-closed', run, position, at)
      const message = leave(run, { at, kind: 'answer', name: String(position), key: null, by: null, payload })
      return { outcome: 'answered', run, message, claimed: null }
    }
    const refused = state === 0 ? undefined : refuseMessage(state)
    if (refused?.outcome === 'damaged') return refused
    const ask = readAsk(id, position)
    return ask ? { outcome: 'closed', ask } : { outcome: 'missing' }
  }
}
