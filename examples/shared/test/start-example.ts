import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type Child, startChild } from '../src/child.ts'

/** Runs TypeScript, and takes the packages from their sources: nothing has to be built first. */
const node = ['--import', 'tsx', '--conditions=@pawl/source']

/** Starts a program of an example as a user does; it is gone when the test has ended. */
export function startExample(
  program: string,
  beside: string,
  args: readonly string[] = [],
  env: { readonly [name: string]: string } = {},
): Child {
  const child = startChild(program, beside, { args, env, node })
  onTestFinished(async () => {
    await child.kill()
  })
  return child
}

/** A folder that is removed when the test has ended. */
export async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'pawl-example-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}
