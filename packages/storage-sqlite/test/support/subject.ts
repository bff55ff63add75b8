import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Damage, StoreSubject } from '@pawl/testing/conformance'
import { connect, sqliteStore } from '../../../../test/support/sqlite.ts'
import { dumpFile } from './dump.ts'

export const sqliteSubject: StoreSubject = {
  name: 'sqlite',
  make() {
    const directory = makeDirectory(memoryDirectory)
    const file = join(directory, 'pawl.db')
    return {
      store: sqliteStore(file),
      dump: () => dumpFile(file),
      damage: (run, how) => damageRow(file, run, how),
      remove: () => removeDirectory(directory),
    }
  },
}

/** For hundreds of files that live for a moment: in memory where there is a place for that. */
export const memoryDirectory: string = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

export function makeDirectory(parent: string = tmpdir()): string {
  return mkdtempSync(join(parent, 'pawl-sqlite-'))
}

export function removeDirectory(directory: string): void {
  rmSync(directory, { recursive: true, force: true })
}

const damages: { readonly [how in Damage]: string } = {
  'mail-behind': 'mail = 0',
  'mail-full': 'mail = 9223372036854775807',
  'unknown-state': 'state = 99',
}

/** On a connection of its own. */
function damageRow(file: string, id: string, how: Damage): () => void {
  const write = (change: string, ...values: readonly number[]): void => {
    const database = connect(file)
    database.prepare(`update runs set ${change} where id = ?`).run(...values, id)
    database.close()
  }
  const database = connect(file, { readonly: true })
  const row = database
    .prepare<[string], { mail: number; state: number }>('select mail, state from runs where id = ?')
    .get(id)
  database.close()
  if (!row) throw new Error(`there is no run ${id}`)
  write(damages[how])
  return () => write('mail = ?, state = ?', row.mail, row.state)
}
