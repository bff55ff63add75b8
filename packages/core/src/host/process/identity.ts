import { existsSync, readFileSync, readlinkSync } from 'node:fs'

/** Identifies a process to other processes of the machine. A pid alone is soon reused. */
export interface ProcessIdentity {
  readonly pid: number
  /** When it started, in kernel ticks since boot; null if unknown. */
  readonly startedAt: string | null
  /** The boot of the machine and the namespaces of pids and time; null if unknown. */
  readonly machine: string | null
}

/** Returns the identity of this process. */
export function identifyOwnProcess(): ProcessIdentity {
  const startedAt = readStart(process.pid)
  const isKnown = startedAt !== 'gone' && startedAt !== null
  return {
    pid: process.pid,
    startedAt: isKnown ? startedAt : null,
    machine: isKnown ? readMachine() : null,
  }
}

/** Returns whether a process is certainly gone, as seen from the process `own`. False if unknown. */
export function isProcessGone(other: ProcessIdentity, own: ProcessIdentity): boolean {
  if (other.machine === null || other.machine !== own.machine || other.startedAt === null) return false
  const startedAt = readStart(other.pid)
  return startedAt !== null && startedAt !== other.startedAt
}

function readMachine(): string | null {
  try {
    // If processes of other users are hidden, an invisible process may still exist.
    readFileSync('/proc/1/stat')
    // The visible processes may be those of another namespace.
    if (readlinkSync('/proc/self') !== String(process.pid)) return null
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    // Linux before 5.6 has no time namespaces.
    const time = existsSync('/proc/self/ns/time') ? readlinkSync('/proc/self/ns/time') : ''
    return `${boot} ${readlinkSync('/proc/self/ns/pid')} ${time}`
  } catch {
    return null
  }
}

/** Returns the start time; 'gone' for a process that does not exist or is a zombie; null if unknown. */
function readStart(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The program name may contain spaces and parentheses; the fields after it do not.
    const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return state === 'Z' || state === 'X' ? 'gone' : (fields[18] ?? null)
  } catch (error) {
    // Any other error, such as too many open files, is inconclusive.
    return ['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '') ? 'gone' : null
  }
}
