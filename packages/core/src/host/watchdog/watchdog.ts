import { SHARE_ENV, Worker, type WorkerOptions } from 'node:worker_threads'
import { clearIntervalNative, inRootContext, setIntervalNative } from '../natives.ts'
import { shareCell } from '../process/wide.ts'
import { at, noSlot, slotBytes, slots, textAt, watchCell } from './cell.ts'
import { type WatcherData, watcherProgram } from './thread.ts'

export interface WatchdogOptions {
  /** Maximum time that a turn or a step body may block the event loop, in ms. Default: 2000. */
  readonly boundMs?: number
  /** Called once it is over, with the total time. A block that never ends is reported on stderr only. */
  readonly onHeld?: (held: Held) => void
  /** Called with the reason if the thread cannot be started, for example without permission. Everything else still works. */
  readonly onUnavailable?: (error: unknown) => void
}

/** Reports code that blocked the event loop for longer than the threshold. */
export interface Held {
  /** The turn of a run, the synchronous part of a step body, or a later part of one of the running bodies. */
  readonly holder: 'turn' | 'body' | 'loop'
  /** The id of the run, or the descriptions of the bodies. */
  readonly names: readonly string[]
  readonly heldMs: number
}

type Engine = Required<WatchdogOptions>
interface Watchdog {
  readonly engines: Set<Engine>
  beat: NodeJS.Timeout | undefined
}
const watchdog: Watchdog = shareCell('watchdog', () => ({ engines: new Set(), beat: undefined }))

/**
 * Watches from a separate thread for code that blocks the event loop, and names it on stderr. The main thread cannot
 * while it is blocked. The watchdog ends nothing: a turn cannot be interrupted and resumed. If the process is killed,
 * its runs are resumed elsewhere.
 *
 * All engines of the process share one thread, with the lowest of their thresholds. It does not keep the process alive,
 * and is started by `watchFromNowOn`. Returns a function that stops watching.
 */
export function startWatchdog({
  boundMs = 2000,
  onHeld = () => {},
  onUnavailable = () => {},
}: WatchdogOptions = {}): () => void {
  const engine: Engine = { boundMs, onHeld, onUnavailable }
  watchdog.engines.add(engine)
  if (isBegun()) setBound()
  return () => {
    if (!watchdog.engines.delete(engine) || !isBegun()) return
    setBound()
    if (!isBegun()) endWatcher()
  }
}

/**
 * Starts the thread before the first new code: a new turn, a step body. A replay needs no watching, and starting a
 * thread would slow it down after a restart.
 */
export function watchFromNowOn(): void {
  if (isBegun() || watchdog.engines.size === 0) return
  // The thread must not inherit the context of the turn or body that happens to start it.
  inRootContext(() => {
    setBound()
    startWatcher()
  })
}

function isBegun(): boolean {
  return watchdog.beat !== undefined
}

/** Sets the threshold, and a timer that counts rounds of the event loop as often as the thread looks. */
function setBound(): void {
  clearIntervalNative(watchdog.beat)
  watchdog.beat = undefined
  if (watchdog.engines.size === 0) return
  const boundMs = Math.min(...Array.from(watchdog.engines, (engine) => engine.boundMs))
  Atomics.store(watchCell.numbers, at.bound, boundMs)
  watchdog.beat = setIntervalNative(() => Atomics.add(watchCell.numbers, at.beats, 1), boundMs / 4).unref()
}

/** Options for a fast start: the thread writes to file descriptor 2 directly, so that no streams are created or copied. */
const quickStart: WorkerOptions = { eval: true, execArgv: [], env: SHARE_ENV, stdout: true, stderr: true }

function startWatcher(): void {
  const { memory, numbers } = watchCell
  const watcher = Atomics.load(numbers, at.watcher)
  const workerData: WatcherData = { memory, at: { ...at }, noSlot, slots, slotBytes, textAt, watcher }
  watchCell.watched = true
  try {
    new Worker(watcherProgram, { ...quickStart, workerData, name: 'pawl watchdog' })
      .on('message', (held: Held) => {
        for (const engine of watchdog.engines) engine.onHeld(held)
      })
      .on('error', reportUnavailable)
      .unref()
  } catch (error) {
    reportUnavailable(error)
  }
}

function endWatcher(): void {
  watchCell.watched = false
  Atomics.add(watchCell.numbers, at.watcher, 1)
  Atomics.notify(watchCell.numbers, at.watcher)
}

function reportUnavailable(error: unknown): void {
  watchCell.watched = false
  for (const engine of watchdog.engines) engine.onUnavailable(error)
}
