import { join } from 'node:path'
import type { WholeStore } from '@pawl/core/storage'
import { onTestFinished } from 'vitest'
import { driver } from '../../../../test/support/sqlite.ts'
import { type Environment, realEnvironment } from '../../src/connection/connection.ts'
import { createStore } from '../../src/store.ts'
import { makeDirectory, removeDirectory } from './subject.ts'

/** A file name in a new directory that is removed with everything in it when the test is over. */
export function tempFile(parent?: string): string {
  const directory = makeDirectory(parent)
  onTestFinished(() => removeDirectory(directory))
  return join(directory, 'pawl.db')
}

/** An open store on a file, closed when the test is over. */
export async function openStore(file: string, environment: Partial<Environment> = {}): Promise<WholeStore> {
  const store = createStore(file, { ...realEnvironment(driver), ...environment })
  onTestFinished(() => store.close())
  await store.open()
  return store
}
