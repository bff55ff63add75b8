import { SHARE_ENV, Worker, type WorkerOptions } from 'node:worker_threads'
import { clearIntervalNative, inRootContext, setIntervalNative } from '../natives.ts'
import { shareCell } from '../process/wide.ts'
import { at, nobody, slotBytes, slots, textAt, watchCell } from './cell.ts'
import { type WatcherData, watcherProgram } from './thread.ts'

export interface WatchdogOptions {
  /** How long a turn or a step body may keep the event loop, in ms. Default 2000. */
  readonly boundMs?: number
  /** Told once it is over, with all the time it took. What never ends is told on stderr only. */
  readonly onHeld?: (held: Held) => void
  /** Told why there is no watcher, such as a Node that may not start threads. Everything else works without. */
  readonly onUnavailable?: (error: unknown) => void
}

/** Somebody kept the event loop for longer than the bound. */
export interface Held {
  /** The turn of a run, the synchronous part of a step body, or a later part of one of the bodies under way. */
  readonly holder: 'turn' | 'body' | 'loop'
  /** The id of the run, or what describes the bodies. */
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
 * Watches, from a thread of its own, who keeps the event loop for too long, and names them on stderr while
 * they do, when the main thread cannot. It ends nothing: a turn cannot be broken off and its run carried on.
 * Whoever keeps the process kills it, and the run is taken up again.
 *
 * One thread for all engines of the process, with the lowest of their bounds. It keeps no process alive, and there is
 * none before `watchFromNowOn`. Returns how to stop watching.
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
 * To be called before what nobody has seen end: a new turn, a step body. Until then there is nothing to watch, and a
 * thread that starts would slow down what a restart waits for: the replay.
 */
export function watchFromNowOn(): void {
  if (isBegun() || watchdog.engines.size === 0) return
  // Whose turn or body it happens to be is no business of the thread's, nor of what it tells.
  inRootContext(() => {
    setBound()
    startWatcher()
  })
}

function isBegun(): boolean {
  return watchdog.beat !== undefined
}

/** The loop shows that it comes round as often as the watcher looks. */
function setBound(): void {
  clearIntervalNative(watchdog.beat)
  watchdog.beat = undefined
  if (watchdog.engines.size === 0) return
  const boundMs = Math.min(...Array.from(watchdog.engines, (engine) => engine.boundMs))
  Atomics.store(watchCell.numbers, at.bound, boundMs)
  watchdog.beat = setIntervalNative(() => Atomics.add(watchCell.numbers, at.beats, 1), boundMs / 4).unref()
}

/** It writes to the file of stderr itself: no streams need be made for it, here or there, and nothing copied. */
const quickStart: WorkerOptions = { eval: true, execArgv: [], env: SHARE_ENV, stdout: true, stderr: true }

function startWatcher(): void {
  const { memory, numbers } = watchCell
  const watcher = Atomics.load(numbers, at.watcher)
  const workerData: WatcherData = { memory, at: { ...at }, nobody, slots, slotBytes, textAt, watcher }
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
