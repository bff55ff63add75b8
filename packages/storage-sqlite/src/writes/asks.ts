import { askStatusCode, type NewAsk, type RunKey } from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'
import type { AskNames } from './ask-names.ts'
import type { FeedWrites } from './feed.ts'
import { answerColumns, askColumns } from './rows.ts'

export interface AskWrites {
  open(run: RunKey, ask: NewAsk, at: number): void
  /** Closes the ask if it is still open. */
  close(run: RunKey, position: number, status: number, at: number): void
}

export function prepareAsks(database: Database, names: AskNames, feed: FeedWrites): AskWrites {
  const insert = database.prepare(
    `insert into asks (run, status, opened_at, closed_at, ${askColumns.names}, ${answerColumns.names})
     values (?, ?, ?, ?, ${askColumns.places}, ${answerColumns.places})`,
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
      const { position, answered } = ask
      const status = askStatusCode.numberOf[answered ? 'answered' : 'open']
      const given = [...askColumns.valuesOf(ask), ...answerColumns.valuesOf(answered)]
      insert.run(run, status, at, answered?.at ?? null, ...given)
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
