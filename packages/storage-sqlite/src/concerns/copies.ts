import type { WholeStore } from '@pawl/core/storage'
import type { StoreParts } from './parts.ts'

export function createCopies({ connection }: StoreParts): WholeStore['copies'] {
  return {
    extract: (id) => connection.read(({ extract }) => extract(id)),
    install: (copy, seq, events, last) =>
      connection.write(({ install }, at) => install(copy, seq, events, last, at)),
  }
}
