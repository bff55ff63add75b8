import type { WholeStore } from '@pawl/core/storage'
import { prepareExtract } from '../reads/extract.ts'
import { prepareInstall } from '../writes/install.ts'
import type { StoreParts } from './parts.ts'

export function createCopies({ database, hints }: StoreParts): WholeStore['copies'] {
  const installPart = prepareInstall(database)
  return {
    extract: prepareExtract(database),
    async install(copy, seq, events, last) {
      const installed = await installPart(copy, seq, events, last)
      if (last !== null) hints.send()
      return installed
    },
  }
}
