import type { WholeStore } from '@pawl/core/storage'
import type { MemoryConnection } from '../connection.ts'
import { listNotices, markRead } from '../notices.ts'

export function createNotices(connection: MemoryConnection): WholeStore['notices'] {
  const { tables } = connection
  return {
    list: (query) => connection.read(() => listNotices(tables, query)),
    markRead: (numbers, reader) => connection.read(() => markRead(tables, numbers, reader)),
  }
}
