import { defineStore, PawlError, type Store } from '@pawl/core/storage'
import { SqliteStore } from './sqlite-store.ts'

/**
 * One file, several processes. WAL and synchronous=FULL are set and asserted: what was acknowledged
 * survives a crash of the process and the loss of power.
 * @param file is created if it is not there; its directory must be
 * @example
 * const engine = await createEngine({ store: sqlite('pawl.db'), procedures: [refund] })
 */
export function sqlite(file: string): Store {
  if (typeof file !== 'string')
    throw new PawlError(
      'option-invalid',
      { option: 'file of sqlite', given: file },
      { remedy: "It must be the path of a file, such as 'pawl.db'." },
    )
  return defineStore('sqlite', () => new SqliteStore(file))
}
