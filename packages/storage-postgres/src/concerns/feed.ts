import type { WholeStore } from '@pawl/core/storage'
import { prepareReadFeed } from '../reads/feed.ts'
import { prepareTrimFeed } from '../writes/feed.ts'
import type { StoreParts } from './parts.ts'

export function createFeed({ database }: StoreParts): WholeStore['feed'] {
  return { read: prepareReadFeed(database), trim: prepareTrimFeed(database) }
}
