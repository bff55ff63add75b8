import type { WholeStore } from '@pawl/core/storage'
import { driver } from '../../../../test/support/sqlite.ts'
import { realEnvironment } from '../../src/connection/connection.ts'
import { createStore } from '../../src/store.ts'
import { changedConnections, rewriting } from './environments.ts'

/** A piece of a statement, and its replacement. Every placeholder is kept. */
type Change = readonly [from: string, to: string]

const sqlChanges = {
  'without a check of epoch and worker': [
    ['and epoch = ? and head = ? and worker = ?', 'and ? and head = ? and ?'],
  ],
  'without a check of the epoch': [['and epoch = ? and head = ?', 'and ? and head = ?']],
  'without a check of the worker': [['and head = ? and worker = ?', 'and head = ? and ?']],
  'parking whatever mail has come': [['and state = 0 and mail = ?', 'and state = 0 and ? >= 0']],
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

export function makeMutant(file: string, mutation: Mutation): WholeStore {
  switch (mutation) {
    case 'nothing':
      return createStore(file, realEnvironment(driver))
    case 'with synchronous=NORMAL':
    case 'with synchronous=OFF': {
      const level = mutation.slice(mutation.indexOf('=') + 1)
      const environment = changedConnections((database) => void database.pragma(`synchronous = ${level}`))
      return createStore(file, { ...realEnvironment(driver), ...environment })
    }
    default:
      return createRewritten(file, sqlChanges[mutation])
  }
}

/** Cannot be opened if one of its changes fits no statement: nothing would have been taken out. */
function createRewritten(file: string, changes: readonly Change[]): WholeStore {
  const unused = new Set(changes)
  const rewrite = (sql: string): string =>
    changes.reduce((text, change) => {
      const changed = apply(change, text)
      if (changed !== text) unused.delete(change)
      return changed
    }, sql)
  const store = createStore(file, { ...realEnvironment(driver), ...rewriting(rewrite) })
  return {
    ...store,
    async open() {
      await store.open()
      // By then all statements are prepared.
      for (const [from] of unused)
        throw new Error(`No statement has "${from}": the store has changed, and this mutant not.`)
    },
  }
}

/** `commit` and the like are whole statements; the longer pieces are parts of one. */
function apply([from, to]: Change, text: string): string {
  return from.includes(' = ') || text === from ? text.replaceAll(from, to) : text
}
