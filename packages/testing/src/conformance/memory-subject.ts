import { defineStore } from '@pawl/core/storage'
import { MemoryConnection } from '../memory/connection.ts'
import { dumpTables } from '../memory/dump.ts'
import { makeTables } from '../memory/tables.ts'
import type { StoreSubject } from './subject.ts'

/** The memory store, with a look behind its port: what other stores are compared with. */
export const memorySubject: StoreSubject = {
  name: 'memory',
  make() {
    const tables = makeTables()
    return {
      store: defineStore('memory', () => new MemoryConnection(tables, Date.now)),
      dump: () => dumpTables(tables),
      remove: () => undefined,
    }
  },
}
