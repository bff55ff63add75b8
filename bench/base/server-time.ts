import { readdirSync, readFileSync } from 'node:fs'

/** Processor time in ms of each process of a server, by process id. */
export type ServerTimes = ReadonlyMap<number, number>

const noTimes: ServerTimes = new Map()

/**
 * Reads the processor time of a server and of its child processes. The map is empty on systems without /proc.
 * @param server the process that started all others of the server
 */
export function readServerTimes(server: number): ServerTimes {
  if (process.platform !== 'linux') return noTimes
  const ids = readdirSync('/proc').map(Number).filter(Number.isInteger)
  const family = ids.filter((id) => id === server || readParent(id) === server)
  return new Map(family.map((id) => [id, readTimeMs(id)]))
}

/** Returns the ms spent between two readings. Time of processes that have ended in between is not known. */
export function timeBetween(before: ServerTimes, after: ServerTimes): number {
  let sum = 0
  for (const [id, ms] of after) sum += ms - (before.get(id) ?? 0)
  return sum
}

function readParent(id: number): number | null {
  // The name before it stands in parentheses, and may hold any character.
  const fields = readProc(`${id}/stat`)?.split(') ').at(-1)?.split(' ')
  return fields === undefined ? null : Number(fields[1])
}

/** A process of the server has one thread; `stat` would count in ticks of 10 ms. */
function readTimeMs(id: number): number {
  return Number(readProc(`${id}/schedstat`)?.split(' ')[0] ?? 0) / 1e6
}

/** Null if the process has ended. */
function readProc(path: string): string | null {
  try {
    return readFileSync(`/proc/${path}`, 'utf8')
  } catch {
    return null
  }
}
