import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Store } from '@pawl/core'
import { unreachable, usageError } from '../door/problem.ts'
import { hideSecrets } from '../output/hide-secrets.ts'
import type { Found } from './found.ts'

/** A store by its address, or the store that a config made. Its package is loaded here: most commands use none, or one. */
export async function toStore(store: Store | string): Promise<Store> {
  if (typeof store !== 'string') return store
  return isPostgres(store)
    ? (await import('@pawl/storage-postgres')).postgres(store)
    : (await import('@pawl/storage-sqlite')).sqlite(store)
}

/** Whether an address is one of PostgreSQL. Any other is a path. */
export function isPostgres(address: string): boolean {
  return /^postgres(ql)?:\/\//.test(address)
}

/** Whether it is an address, of which kind so ever, and not a path. */
export function hasScheme(address: string): boolean {
  return /^[a-z][a-z\d+.-]*:\/\//i.test(address)
}

/** @throws CommandError with status 2 that names the scheme */
export function refuseUnknownScheme({ value, by }: Found<Store | string>): void {
  if (typeof value !== 'string' || isPostgres(value) || !hasScheme(value)) return
  const scheme = value.slice(0, value.indexOf('://') + 3)
  throw usageError(
    `There is no store with the scheme ${scheme} (${by}). Pass the path of a SQLite file, or a postgres:// address.`,
  )
}

/** Returns the path of a SQLite file that a command names but that is not there; undefined for any other store. */
export function missingFile({ value }: Found<Store | string>, cwd: string): string | undefined {
  if (typeof value !== 'string' || isPostgres(value)) return undefined
  const file = resolve(cwd, value)
  return existsSync(file) ? undefined : file
}

/** @throws CommandError with status 7 if a command that only works on what is stored would make an empty store */
export function refuseMissing(store: Found<Store | string>, cwd: string): void {
  const file = missingFile(store, cwd)
  if (file === undefined) return
  const ofDev = join('.pawl', 'dev.db')
  const remedy =
    store.by !== 'default'
      ? 'Check the path: `pawl run` and `pawl worker` create a store.'
      : existsSync(join(cwd, ofDev))
        ? `\`pawl dev\` keeps its runs in another one: pass \`--store ${ofDev}\`.`
        : 'Change to the folder of the project, or pass `--store`. `pawl run` creates a store.'
  throw unreachable(`There is no store ${file} (${store.by}). ${remedy}`)
}

/** Says which store it is, without a password. */
export function describeStore(store: Store | string): string {
  return typeof store === 'string' ? hideSecrets(store) : 'the store of the config'
}
