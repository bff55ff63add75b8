import fs, { type FSWatcher } from 'node:fs'
import { basename, dirname } from 'node:path'

/** Delays before each look after the file was touched. The watch fires at the write, before the commit is visible. */
const pausesMs = [1, 1, 1, 1, 2, 4, 10, 20, 40, 80, 160, 320]
/** Index to continue from while there are commits. Behind it the watch is enabled again. */
const busy = pausesMs.indexOf(10)
/** Interval if the file cannot be watched. */
const pollMs = 25
/** A hint is followed by a rest of this many times the duration of its callbacks. */
const restShare = 4
const maxRestMs = 1_000

export interface WatchedConnection {
  /** Returns a number that changes with every commit of another connection, or undefined if it cannot be read. */
  readonly readVersion: () => number | undefined
  /** Returns a number that increases with every commit of this connection. */
  readonly countCommits: () => number
}

/**
 * Calls back when another connection has committed. The -wal is watched only while idle: under load, the watch would
 * fire thousands of times a second, also for the writes of this connection.
 */
export function watchCommits(file: string, connection: WatchedConnection, onHint: () => void): () => void {
  const wal = `${basename(file)}-wal`
  let seen = connection.readVersion()
  let commits = connection.countCommits()
  let looked = 0
  let timer: NodeJS.Timeout | undefined
  let watcher: FSWatcher | undefined
  let poll: NodeJS.Timeout | undefined
  let restUntil = 0
  let isStopped = false

  /** Hints at commits of other connections. Returns whether any connection has committed since the last look. */
  function look(): boolean {
    const version = connection.readVersion()
    const count = connection.countCommits()
    const isNews = version !== undefined && version !== seen
    const isBusy = isNews || count !== commits
    commits = count
    if (isNews && performance.now() >= restUntil) {
      seen = version
      hint()
    }
    return isBusy
  }

  function hint(): void {
    const from = performance.now()
    onHint()
    setImmediate(() => {
      const now = performance.now()
      restUntil = now + Math.min(maxRestMs, restShare * (now - from))
    })
  }

  function lookAgain(): void {
    timer = undefined
    if (look()) {
      looked = busy
      unwatch()
    } else if (looked > busy) watch()
    if (!isStopped) lookLater()
  }

  function lookLater(): void {
    const pauseMs = pausesMs[looked++]
    if (pauseMs !== undefined) timer = setTimeout(lookAgain, pauseMs).unref()
  }

  function watch(): void {
    if (watcher !== undefined || poll !== undefined) return
    try {
      watcher = watchPlace(file, (name) => {
        if (name !== wal) return
        // The -wal may have been replaced by a new file, and looking suffices for now.
        unwatch()
        const isLookedSoon = timer !== undefined && looked <= busy + 1
        if (isLookedSoon) return
        clearTimeout(timer)
        // If this connection has just committed, the first looks are skipped: it is busy.
        looked = connection.countCommits() === commits ? 0 : busy
        lookLater()
      })
      watcher.on('error', pollInstead)
    } catch {
      return pollInstead()
    }
    // Commits between the last look and the start of the watch.
    look()
  }

  function unwatch(): void {
    watcher?.close()
    watcher = undefined
  }

  function pollInstead(): void {
    unwatch()
    clearTimeout(timer)
    poll ??= setInterval(look, pollMs).unref()
  }

  watch()
  return () => {
    isStopped = true
    unwatch()
    clearInterval(poll)
    clearTimeout(timer)
  }
}

/**
 * Watches the -wal rather than the directory, where other files may be written far more often. If there is no -wal,
 * because the last connection was closed, it watches the directory for a new one.
 */
function watchPlace(file: string, onTouch: (name: string | null) => void): FSWatcher {
  const watch = (place: string): FSWatcher =>
    fs.watch(place, { persistent: false }, (_event, name) => onTouch(name))
  try {
    return watch(`${file}-wal`)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return watch(dirname(file))
  }
}
