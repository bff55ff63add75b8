import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { backUp } from '@pawl/storage-sqlite/internal'
import { refuseServer } from '../config/find.ts'
import { isPostgres } from '../config/store.ts'
import type { Context } from '../context.ts'
import { interrupted, usageError } from '../door/problem.ts'
import { type ExitStatus, exit } from '../exit.ts'
import { safe } from '../output/out.ts'

export interface BackupFlags {
  readonly force?: boolean
}

/** Copies the SQLite file of the store, also while it is in use. */
export async function backup(context: Context, file: string, { force }: BackupFlags): Promise<ExitStatus> {
  const { out, surroundings } = context
  const found = await context.located()
  refuseServer('backup', found)
  const { value: store } = found.store
  if (typeof store !== 'string')
    throw usageError(
      '`pawl backup` needs the path of a SQLite file: pass `--store`. The config makes the store itself.',
    )
  if (isPostgres(store))
    throw usageError(
      '`pawl backup` copies a SQLite file. Back up PostgreSQL with its own tools, such as `pg_dump --format custom --schema pawl`.',
    )
  const target = resolve(surroundings.cwd, file)
  if (force !== true && existsSync(target))
    throw usageError(`${file} exists. Choose another file, or pass --force.`)
  const options = { replaces: force === true, signal: context.signal }
  const { runs, bytes } = await backUp(resolve(surroundings.cwd, store), target, options).catch(
    (error: unknown) => {
      throw context.signal.aborted ? interrupted(`Interrupted: ${file} was not written.`) : error
    },
  )
  if (out.json) out.print(JSON.stringify({ file, runs, bytes }))
  else out.note(`  ${safe(file)} is a verified copy with ${runs} run${runs === 1 ? '' : 's'}, ${bytes} bytes`)
  return exit.done
}
