import { existsSync, readFileSync, readlinkSync } from 'node:fs'

/** A process as any other on the machine can recognise it. A pid alone is soon given again. */
export interface ProcessIdentity {
  readonly pid: number
  /** When it started, in the kernel's ticks since the machine did; null where that cannot be known. */
  readonly startedAt: string | null
  /** This boot of this machine and its namespaces of pids and of time; null where that cannot be known. */
  readonly machine: string | null
}

export function identifyOwnProcess(): ProcessIdentity {
  const startedAt = readStart(process.pid)
  const isKnown = startedAt !== 'gone' && startedAt !== null
  return {
    pid: process.pid,
    startedAt: isKnown ? startedAt : null,
    machine: isKnown ? readMachine() : null,
  }
}

/** Whether a process is certainly gone, as seen from the process `own`. False where it cannot be known. */
export function isProcessGone(other: ProcessIdentity, own: ProcessIdentity): boolean {
  if (other.machine === null || other.machine !== own.machine || other.startedAt === null) return false
  const startedAt = readStart(other.pid)
  return startedAt !== null && startedAt !== other.startedAt
}

function readMachine(): string | null {
  try {
    // Where other users' processes are hidden, one that cannot be seen may still be there.
    readFileSync('/proc/1/stat')
    // What is seen may be the processes of another namespace.
    if (readlinkSync('/proc/self') !== String(process.pid)) return null
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    // Linux before 5.6 has one time for all.
    const time = existsSync('/proc/self/ns/time') ? readlinkSync('/proc/self/ns/time') : ''
    return `${boot} ${readlinkSync('/proc/self/ns/pid')} ${time}`
  } catch {
    return null
  }
}

/** 'gone' for a process that is not there, or only waits to be buried; null where it cannot be known. */
function readStart(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name of the program may have spaces and brackets in it; what follows has not.
    const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return state === 'Z' || state === 'X' ? 'gone' : (fields[18] ?? null)
  } catch (error) {
    // Anything else, such as that this process has too many files open, tells nothing.
    return ['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '') ? 'gone' : null
  }
}
