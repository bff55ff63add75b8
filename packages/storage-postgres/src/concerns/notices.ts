import type { WholeStore } from '@pawl/core/storage'
import { prepareNotices } from '../reads/notices.ts'
import type { StoreParts } from './parts.ts'

export function createNotices({ database }: StoreParts): WholeStore['notices'] {
  return prepareNotices(database)
}
