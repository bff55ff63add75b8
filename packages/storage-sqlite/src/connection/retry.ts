import { setTimeout as sleep } from 'node:timers/promises'

// SQLite's lock is unfair, and its own waiting blocks the event loop; sleeps of random length do neither.
const maxPauseMs = 8

/** Waits a little for a lock that another process holds; says so, ever more rarely, when that takes long. */
export async function pause(attempt: number, file: string): Promise<void> {
  // About 1, 2, 4, 8 … seconds of waiting at 4.5 ms each.
  if (attempt >= 225 && Number.isInteger(Math.log2(attempt / 225))) {
    const seconds = Math.round((attempt * (maxPauseMs + 1)) / 2000)
    process.emitWarning(
      `Pawl has waited ${seconds} s for the lock of ${file}. Another process holds it: a busy writer, or one that was stopped in the middle of a write.`,
      { code: 'PAWL_STORE_BUSY' },
    )
  }
  await sleep(1 + Math.random() * (maxPauseMs - 1))
}

/** Waits for a disk that has failed to come back. */
export async function pauseAfterFault(attempt: number, file: string): Promise<void> {
  if (Number.isInteger(Math.log2(attempt))) {
    process.emitWarning(`The disk of ${file} has failed ${attempt} times in a row; Pawl keeps trying.`, {
      code: 'PAWL_STORE_DISK',
    })
  }
  await sleep(Math.min(1000, 10 * 2 ** attempt))
}
