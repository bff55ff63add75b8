import { readFileSync, readlinkSync } from 'node:fs'

/** A process as any other on the machine can recognise it. A pid alone is soon given again. */
export interface ProcessIdentity {
  readonly pid: number
  /** When it started, in the kernel's ticks since the machine did; null where that cannot be known. */
  readonly startedAt: string | null
  /** This boot of this machine and its namespace of pids; null where that cannot be known. */
  readonly machine: string | null
}

export function identifyOwnProcess(): ProcessIdentity {
  const startedAt = readStart(process.pid)
  return {
    pid: process.pid,
    startedAt: startedAt ?? null,
    machine: startedAt === undefined ? null : readMachine(),
  }
}

/** Whether a process is certainly gone, as seen from the process `own`. False where it cannot be known. */
export function isProcessGone(other: ProcessIdentity, own: ProcessIdentity): boolean {
  if (other.machine === null || other.machine !== own.machine || other.startedAt === null) return false
  return readStart(other.pid) !== other.startedAt
}

function readMachine(): string | null {
  try {
    // Where other users' processes are hidden, one that cannot be seen may still be there.
    readFileSync('/proc/1/stat')
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return null
  }
}

/** Undefined for a process that is not there, or only waits to be buried. */
function readStart(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name of the program may have spaces and brackets in it; what follows has not.
    const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return state === 'Z' || state === 'X' ? undefined : fields[18]
  } catch {
    return undefined
  }
}
