import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type Environment, realEnvironment } from '../../src/connection/connection.ts'
import { SqliteStore } from '../../src/store.ts'
import { makeDirectory, removeDirectory } from './subject.ts'

/** A file name in a new directory that is removed with everything in it when the test is over. */
export function tempFile(parent?: string): string {
  const directory = makeDirectory(parent)
  onTestFinished(() => removeDirectory(directory))
  return join(directory, 'pawl.db')
}

/** An open store on a file, closed when the test is over. */
export async function openStore(file: string, environment: Partial<Environment> = {}): Promise<SqliteStore> {
  const store = new SqliteStore(file, { ...realEnvironment, ...environment })
  onTestFinished(() => store.close())
  await store.open()
  return store
}
