import { askStatusCode, type NewAsk, type RunKey } from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'
import type { AskNames } from './ask-names.ts'
import type { FeedWrites } from './feed.ts'

export interface AskWrites {
  open(run: RunKey, ask: NewAsk, at: number): void
  /** Closes the ask if it is still open. */
  close(run: RunKey, position: number, status: number, at: number): void
}

export function prepareAsks(database: Database, names: AskNames, feed: FeedWrites): AskWrites {
  const insert = database.prepare(
    `insert into asks (run, position, status, urgency, opened_at, due_at, closes_at, closed_at, kind, key, audience,
       escalate_to, answered_by, payload, answer)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const close = database.prepare(
    'update asks set status = ?, closed_at = ? where run = ? and position = ? and status = 0',
  )
  // What an earlier generation has asked is closed. An open one is damage, which the insert finds.
  const remove = database.prepare('delete from asks where run = ? and position = ? and status <> 0')
  const removeKey = database.prepare('update asks set key = null where run = ? and key = ? and status <> 0')
  return {
    open(run, ask, at) {
      if (ask.replaces === true) {
        remove.run(run, ask.position)
        if (ask.key !== null) removeKey.run(run, ask.key)
      }
      const { position, urgency, dueAt, closesAt, kind, key, to, escalateTo, payload, answered } = ask
      const status = askStatusCode.numberOf[answered ? 'answered' : 'open']
      const audiences = [JSON.stringify(to), JSON.stringify(escalateTo)]
      const times = [at, dueAt, closesAt, answered?.at ?? null]
      const outcome = [answered?.by ?? null, payload, answered?.payload ?? null]
      insert.run(run, position, status, urgency, ...times, kind, key, ...audiences, ...outcome)
      if (answered === null) names.add(run, ask, at)
      feed.tell(answered === null ? 'ask-opened' : 'ask-closed', run, position, at)
    },
    close(run, position, status, at) {
      if (close.run(status, at, run, position).changes === 0) return
      names.remove(run, position)
      feed.tell('ask-closed', run, position, at)
    },
  }
}
