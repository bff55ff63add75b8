import type { Procedure } from '@pawl/core'
import { usageError } from '../door/problem.ts'
import { loadModule } from './load.ts'

// biome-ignore lint/suspicious/noExplicitAny: procedures of any types
export type AnyProcedure = Procedure<any, any, any>

/** Loads modules and returns every procedure they export, alone or in lists. */
export async function loadProcedures(files: readonly string[]): Promise<readonly AnyProcedure[]> {
  if (files.length === 0)
    throw usageError('No procedures were found. Create `procedures.ts`, or pass `--procedures <file>`.')
  const modules = await Promise.all(files.map(loadModule))
  const found = new Set(modules.flatMap((module) => Object.values(module).flat()).filter(isProcedure))
  if (found.size === 0) throw usageError(`No procedure is exported by ${files.join(', ')}.`)
  return [...found]
}

/** A value made by `procedure()`, whichever copy of the package made it. */
function isProcedure(value: unknown): value is AnyProcedure {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as { readonly name?: unknown }).name === 'string' &&
    typeof (value as { readonly version?: unknown }).version === 'number' &&
    'schemas' in value
  )
}
