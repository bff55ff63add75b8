import { setTimeout as sleep } from 'node:timers/promises'

// Random delays, because SQLite's lock is unfair and its own busy handler blocks the event loop.
const maxPauseMs = 8

/** Waits briefly for a lock of another process. Emits a warning, at doubling intervals, if the wait is long. */
export async function pause(attempt: number, file: string): Promise<void> {
  // After about 1, 2, 4, 8 … seconds, at 4.5 ms per attempt.
  if (attempt >= 225 && Number.isInteger(Math.log2(attempt / 225))) {
    const seconds = Math.round((attempt * (maxPauseMs + 1)) / 2000)
    process.emitWarning(
      `Pawl has waited ${seconds} s for the lock of ${file}. Another process holds it: a busy writer, or a process suspended during a write.`,
      { code: 'PAWL_STORE_BUSY' },
    )
  }
  await sleep(1 + Math.random() * (maxPauseMs - 1))
}

/** Waits for a failed disk to recover. Emits a warning. */
export async function pauseAfterFault(attempt: number, file: string): Promise<void> {
  if (Number.isInteger(Math.log2(attempt))) {
    process.emitWarning(`The disk of ${file} has failed ${attempt} times in a row. Pawl keeps retrying.`, {
      code: 'PAWL_STORE_DISK',
    })
  }
  await sleep(Math.min(1000, 10 * 2 ** attempt))
}
