import { defineStore } from '@pawl/core/storage'
import { createStore } from '../memory/store.ts'
import { makeTables, type RunRecord, type Tables } from '../memory/tables.ts'
import { dumpTables } from './memory-dump.ts'
import type { Damage, StoreSubject } from './subject.ts'

/** The memory store with access to its tables, the reference for other stores. */
export const memorySubject: StoreSubject = {
  name: 'memory',
  make() {
    const tables = makeTables()
    return {
      store: defineStore('memory', () => createStore(tables, Date.now)),
      dump: () => dumpTables(tables),
      damage: (run, how) => damageRecord(tables, run, how),
      remove: () => undefined,
    }
  },
}

const damages: { readonly [how in Damage]: Partial<RunRecord> } = {
  'mail-behind': { mail: 0 },
  'mail-full': { mail: Number.MAX_SAFE_INTEGER },
  'unknown-state': { state: 99 as never },
}

function damageRecord(tables: Tables, id: string, how: Damage): () => void {
  const run = tables.runs.get(id)
  if (!run) throw new Error(`there is no run ${id}`)
  const { mail, state } = run
  Object.assign(run, damages[how])
  return () => void Object.assign(run, { mail, state })
}
