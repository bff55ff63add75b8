import { randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { access, rename, rm, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Context } from '../context.ts'
import { type RunJson, segmentOf } from '../door/door.ts'
import { unreachable, usageError } from '../door/problem.ts'
import { type ExitStatus, exit } from '../exit.ts'
import { safe } from '../output/out.ts'

// Commands that move a run between stores, as a file.

export interface ExportFlags {
  readonly force?: boolean
}

export async function exportRun(
  context: Context,
  id: string,
  file: string,
  { force }: ExportFlags,
): Promise<ExitStatus> {
  const { out, surroundings } = context
  const target = resolve(surroundings.cwd, file)
  if (force !== true && (await exists(target)))
    throw usageError(`${file} exists. Choose another file, or pass --force.`)
  const door = await context.door()
  const parts = await door.download(`/runs/${segmentOf(id)}/export`)
  // Write under a random name until the file is complete: another user may have left a link at a guessable one.
  const part = `${target}.${randomUUID()}.part`
  try {
    await pipeline(Readable.from(parts), createWriteStream(part, { flags: 'wx', mode: 0o600 }))
    await rename(part, target)
  } catch (error) {
    await rm(part, { force: true })
    throw unreachable(`Run ${id} could not be exported to ${file}: ${(error as Error).message}.`)
  }
  if (out.json) out.print(JSON.stringify({ run: id, file }))
  else out.note(`  Run ${safe(id)} is exported to ${safe(file)}`)
  return exit.done
}

export interface ImportFlags {
  readonly id?: string
}

export async function importRun(context: Context, file: string, { id }: ImportFlags): Promise<ExitStatus> {
  const { out, surroundings } = context
  const source = resolve(surroundings.cwd, file)
  if (!(await stat(source).catch(() => null))?.isFile()) throw usageError(`There is no file ${file}.`)
  const door = await context.door({ creates: true })
  const run = await door.upload<RunJson>('/runs/import', { id }, createReadStream(source))
  if (out.json) out.print(JSON.stringify(run))
  else out.note(`  Run ${safe(run.id)} is imported: ${run.status}`)
  return exit.done
}

function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  )
}
