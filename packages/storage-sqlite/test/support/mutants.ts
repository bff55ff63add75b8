import { realEnvironment } from '../../src/connection/connection.ts'
import { SqliteStore } from '../../src/sqlite-store.ts'
import { changedConnections, rewriting } from './environments.ts'

/** A piece of a statement, and what stands in its place. Every placeholder is kept. */
type Change = readonly [from: string, to: string]

const sqlChanges = {
  'without a check of epoch and worker': [
    ['and epoch = ? and head = ? and worker = ?', 'and ? and head = ? and ?'],
  ],
  'without a check of the epoch': [['and epoch = ? and head = ?', 'and ? and head = ?']],
  'without a check of the worker': [['and head = ? and worker = ?', 'and head = ? and ?']],
  'parking whatever mail has come': [
    ['worker = iif(mail = ?, null, worker)', 'worker = iif(?, null, null)'],
    ['wake_at = iif(mail = ?, ?, wake_at)', 'wake_at = iif(?, ?, null)'],
  ],
  'answering what is closed': [['and status = 0 and (closes_at', 'and (closes_at']],
  'without transactions': [
    ['begin immediate', 'select 1'],
    ['commit', 'select 1'],
    ['rollback', 'select 1'],
  ],
} as const satisfies Record<string, readonly Change[]>

/** `nothing`: the store as it is. The others lack one thing each, and a proof that does not notice proves nothing. */
export type Mutation =
  | 'nothing'
  | keyof typeof sqlChanges
  | 'with synchronous=NORMAL'
  | 'with synchronous=OFF'

export function makeMutant(file: string, mutation: Mutation): SqliteStore {
  switch (mutation) {
    case 'nothing':
      return new SqliteStore(file)
    case 'with synchronous=NORMAL':
    case 'with synchronous=OFF': {
      const level = mutation.slice(mutation.indexOf('=') + 1)
      const environment = changedConnections((database) => void database.pragma(`synchronous = ${level}`))
      return new SqliteStore(file, { ...realEnvironment, ...environment })
    }
    default:
      return new SqliteStore(file, {
        ...realEnvironment,
        ...rewriting((sql) => change(sql, sqlChanges[mutation])),
      })
  }
}

function change(sql: string, changes: readonly Change[]): string {
  // `commit` and the like are whole statements; the longer pieces are parts of one.
  return changes.reduce(
    (text, [from, to]) => (from.includes(' = ') || text === from ? text.replaceAll(from, to) : text),
    sql,
  )
}
