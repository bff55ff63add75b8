import type { WholeStore } from '@pawl/core/storage'
import type { StoreParts } from './parts.ts'

export function createNotices({ connection }: StoreParts): WholeStore['notices'] {
  return {
    list: (query) => connection.read(({ noticeReads }) => noticeReads.list(query)),
    markRead: (numbers, reader) => connection.write(({ notices }) => notices.markRead(numbers, reader)),
  }
}
