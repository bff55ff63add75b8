import fs, { type FSWatcher } from 'node:fs'
import { basename, dirname } from 'node:path'

/** When to look after the file was touched: the watch fires at the write, before the disk has it and it can be seen. */
const pausesMs = [1, 1, 1, 1, 2, 4, 10, 20, 40, 80, 160, 320]
/** Where in them to go on while there are commits, one's own or others'. From there on the watch is on again. */
const busy = pausesMs.indexOf(10)
/** Where nothing can be watched. */
const pollMs = 25
/** Whoever waits for anything looks at every hint: so long as that took, this many times over there is no other. */
const restShare = 4
const maxRestMs = 1_000

export interface WatchedConnection {
  /** A number that changes with every commit of another connection; undefined while that cannot be told. */
  readonly readVersion: () => number | undefined
  /** A number that grows with every commit of one's own. */
  readonly countCommits: () => number
}

/**
 * Calls back when another connection has committed. The -wal is watched only while nothing happens: a
 * file that is written to thousands of times a second would be told of each time, and by its own writer.
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

  /** Whether anybody has committed since the last look. */
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
        // One that was taken away may be made anew, and looking is enough for now.
        unwatch()
        const isLookedSoon = timer !== undefined && looked <= busy + 1
        if (isLookedSoon) return
        clearTimeout(timer)
        // Whoever has just committed himself has better to do right now than to look for others.
        looked = connection.countCommits() === commits ? 0 : busy
        lookLater()
      })
      watcher.on('error', pollInstead)
    } catch {
      return pollInstead()
    }
    // What came between the last look and the watch.
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
 * The -wal, and not the directory: what else is written there, a log or another database, may be written far more often.
 * It is gone when the last connection was closed, and made anew with the next one: then the directory tells.
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
