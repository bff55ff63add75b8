import { createHash, randomUUID } from 'node:crypto'
import { readdir, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { identifyOwnProcess, isProcessGone, type ProcessIdentity } from '@pawl/core/storage'

/** Suffixes of the files that SQLite keeps beside a database. */
export const companions = ['-wal', '-shm', '-journal'] as const

/** Minimum age of a leftover if its process cannot be looked up. Creating a file takes milliseconds. */
const abandonedAfterMs = 24 * 60 * 60 * 1_000

/** Returns the temporary name of a new database. The name identifies the process that creates it. */
export function nameAside(file: string): string {
  const { pid, startedAt, machine } = identifyOwnProcess()
  const owner = machine === null ? 'unknown' : `${pid}-${startedAt}-${hash(machine)}`
  return `${file}.${owner}.${randomUUID().slice(0, 8)}.new`
}

/** Removes the file and its companions. */
export async function removeAside(aside: string): Promise<void> {
  for (const companion of ['', ...companions]) await rm(`${aside}${companion}`, { force: true })
}

/**
 * Removes the temporary files of killed processes: files whose process is gone, and files older than a day if their
 * process cannot be looked up. Files of other users stay.
 */
export async function removeLeftovers(file: string): Promise<void> {
  const directory = dirname(file)
  const leftovers = (await readdir(directory).catch(() => [])).flatMap((name) => {
    const owner = readOwner(name, basename(file))
    return owner === undefined ? [] : [{ path: join(directory, name), owner }]
  })
  if (leftovers.length === 0) return
  const own = identifyOwnProcess()
  for (const { path, owner } of leftovers)
    if (await isAbandoned(path, owner, own)) await rm(path, { force: true }).catch(() => {})
}

/** Reads the owner from the name of a temporary file. Returns undefined for any other file. */
function readOwner(name: string, base: string): string | undefined {
  if (!name.startsWith(`${base}.`)) return undefined
  // Earlier versions used a UUID as the name, which does not identify the owner.
  const pattern =
    /^(?:(unknown|\d+-\d+-[0-9a-f]{12})\.[0-9a-f]{8}|[0-9a-f-]{36})\.new(?:-wal|-shm|-journal)?$/
  const found = pattern.exec(name.slice(base.length + 1))
  return found === null ? undefined : (found[1] ?? 'unknown')
}

async function isAbandoned(path: string, owner: string, own: ProcessIdentity): Promise<boolean> {
  const [pid, startedAt = null, machine] = owner.split('-')
  if (own.machine !== null && machine === hash(own.machine))
    return isProcessGone({ pid: Number(pid), startedAt, machine: own.machine }, own)
  const found = await stat(path).catch(() => undefined)
  return found !== undefined && Date.now() - found.mtimeMs > abandonedAfterMs
}

function hash(machine: string): string {
  return createHash('sha256').update(machine).digest('hex').slice(0, 12)
}
