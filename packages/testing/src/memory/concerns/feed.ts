import type { WholeStore } from '@pawl/core/storage'
import type { MemoryConnection } from '../connection.ts'
import { readFeed, trimFeed } from '../feed.ts'

export function createFeed(connection: MemoryConnection): WholeStore['feed'] {
  const { tables } = connection
  return {
    read: (after, limit) => connection.read(() => readFeed(tables, after, limit)),
    trim: (before, limit) => connection.write(() => trimFeed(tables, before, limit)),
  }
}
