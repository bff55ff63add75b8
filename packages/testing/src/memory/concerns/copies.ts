import type { WholeStore } from '@pawl/core/storage'
import type { MemoryConnection } from '../connection.ts'
import { extractRun } from '../reads/extract.ts'
import { installRun } from '../writes/install.ts'

export function createCopies(connection: MemoryConnection): WholeStore['copies'] {
  const { tables } = connection
  return {
    extract: (id) => connection.read(() => extractRun(tables, id)),
    install: (copy, seq, events, last) =>
      connection.write(
        (now) => installRun(tables, copy, seq, events, last, now),
        () => last !== null,
      ),
  }
}
