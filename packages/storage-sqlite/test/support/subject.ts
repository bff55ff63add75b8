import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqlite } from '@pawl/storage-sqlite'
import type { StoreSubject } from '@pawl/testing/conformance'
import { dumpFile } from './dump.ts'

export const sqliteSubject: StoreSubject = {
  name: 'sqlite',
  make() {
    const directory = makeDirectory(memoryDirectory)
    const file = join(directory, 'pawl.db')
    return { store: sqlite(file), dump: () => dumpFile(file), remove: () => removeDirectory(directory) }
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
