import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Store } from '@pawl/core'
import { sqlite } from '@pawl/storage-sqlite'

/**
 * Where an example keeps everything: what PAWL_STORE names, a file, a postgres:// URL, or `memory` for nowhere,
 * which is of use to an example that is one process.
 * @param file a SQLite file, used when PAWL_STORE is not set; its folder is made
 */
export async function openStore(file: string): Promise<Store> {
  const place = process.env['PAWL_STORE'] || file
  if (/^postgres(ql)?:/.test(place)) return openPostgres(place)
  if (place === 'memory') return openMemory()
  await mkdir(dirname(place), { recursive: true })
  return sqlite(place)
}

async function openMemory(): Promise<Store> {
  const { memory } = await import('@pawl/testing')
  return memory()
}

/** Loaded on demand: the examples run without a database server. */
async function openPostgres(url: string): Promise<Store> {
  const { postgres } = await import('@pawl/storage-postgres')
  return postgres(url)
}
