import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { createClient, type Store } from '@pawl/core'
import { sqlite } from '@pawl/storage-sqlite'
import { makeForkCases } from './forks.ts'
import { makeLifeCases } from './lives.ts'

/** A folder for each recording; in it, a file for each run. */
export const exportsFolder: string = new URL('./exports/', import.meta.url).pathname

/** Every fourth run is enough: each procedure is there early, late and in between. */
const every = 4

/** Exports runs of a golden file, which stays as it is, into the folder `name`. Runs of lives.ts and forks.ts need no other run. */
export async function recordExports(file: string, name: string): Promise<void> {
  const folder = join(exportsFolder, name)
  await mkdir(folder, { recursive: true })
  if ((await readdir(folder)).length > 0)
    throw new Error(`${folder} is there: what was exported stays as it is`)
  const copy = join(folder, basename(file))
  await copyFile(file, copy)
  const client = createClient({ store: sqlite(copy) })
  const procedures = [makeLifeCases, makeForkCases]
    .flatMap((make) => make(() => {}))
    .map(({ procedure }) => procedure.name)
  const { items } = await client.list({ limit: 500 })
  const runs = items.filter(({ procedure }) => procedures.includes(procedure))
  for (const [index, { id }] of runs.entries())
    if (index % every === 2)
      await writeFile(join(folder, `${id.replaceAll(' ', '-')}.pawl`), await client.export(id))
  await client.stop()
  for (const suffix of ['', '-wal', '-shm']) await rm(copy + suffix, { force: true })
  console.log(`recorded ${folder}`)
}

/** Imports the runs of a folder. Returns how many there are, and how many checkpoints they have. */
export async function importRuns(
  name: string,
  store: Store,
): Promise<{ readonly runs: number; readonly checkpoints: number }> {
  const folder = join(exportsFolder, name)
  const files = (await readdir(folder)).sort()
  const client = createClient({ store })
  for (const file of files) await client.import(new Uint8Array(await readFile(join(folder, file))))
  const { items } = await client.checkpoints.listAll()
  await client.stop()
  return { runs: files.length, checkpoints: items.length }
}
