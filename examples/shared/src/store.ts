import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Store } from '@pawl/core'
import { sqlite } from '@pawl/storage-sqlite'

/**
 * Where an example keeps everything: what PAWL_STORE names, a file or a postgres:// URL.
 * @param file a SQLite file, used when PAWL_STORE is not set; its folder is made
 */
export async function openStore(file: string): Promise<Store> {
  const place = process.env['PAWL_STORE'] || file
  if (/^postgres(ql)?:/.test(place)) return openPostgres(place)
  await mkdir(dirname(place), { recursive: true })
  return sqlite(place)
}

/** Loaded only by those who want it: everything runs without a database server. */
async function openPostgres(url: string): Promise<Store> {
  const { postgres } = await import('@pawl/storage-postgres')
  return postgres(url)
}
