import { type NewAsk, namesOf, type RunKey } from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'

/** Writes the names by which an open ask is found. */
export interface AskNames {
  add(run: RunKey, ask: NewAsk, at: number): void
  /** Deletes the names of an ask that is no longer open. */
  remove(run: RunKey, position: number): void
}

export function prepareAskNames(database: Database): AskNames {
  const insert = database.prepare(
    `insert into ask_to (run, position, name, late, urgency, due, opened_at, closes_at)
     values (?, ?, ?, ?, ?, ifnull(?, 9007199254740991), ?, ?)`,
  )
  const remove = database.prepare('delete from ask_to where run = ? and position = ?')
  return {
    add(run, ask, at) {
      const { position, urgency, dueAt, closesAt } = ask
      for (const { name, late } of namesOf(ask))
        insert.run(run, position, name, late ? 1 : 0, urgency, dueAt, at, closesAt)
    },
    remove: (run, position) => void remove.run(run, position),
  }
}
