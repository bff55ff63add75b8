import type { WholeStore } from '@pawl/core/storage'
import type { StoreParts } from './parts.ts'

export function createFeed({ connection }: StoreParts): WholeStore['feed'] {
  return {
    read: (after, limit) => connection.read(({ readFeed }) => readFeed(after, limit)),
    async trim(before, limit) {
      // Nearly always there is nothing to delete, which needs no lock.
      if (!(await connection.read(({ feed }) => feed.isOlder(before)))) return 0
      return connection.write(({ feed }) => feed.trim(before, limit))
    },
  }
}
