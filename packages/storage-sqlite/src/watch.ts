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

/** Calls back when another connection has committed. Returns the function that ends it. */
export function watchCommits(file: string, connection: WatchedConnection, onHint: () => void): () => void {
  const watch = new CommitWatch(file, connection, onHint)
  watch.begin()
  return () => watch.stop()
}

/**
 * Looks for commits of other connections. The -wal is watched only while idle: under load, the watch would fire thousands
 * of times a second, also for the writes of this connection.
 */
class CommitWatch {
  readonly #file: string
  readonly #wal: string
  readonly #connection: WatchedConnection
  readonly #onHint: () => void
  #seen: number | undefined
  #commits: number
  #looked = 0
  #timer: NodeJS.Timeout | undefined
  #watcher: FSWatcher | undefined
  #poll: NodeJS.Timeout | undefined
  #restUntil = 0
  #isStopped = false

  constructor(file: string, connection: WatchedConnection, onHint: () => void) {
    this.#file = file
    this.#wal = `${basename(file)}-wal`
    this.#connection = connection
    this.#onHint = onHint
    this.#seen = connection.readVersion()
    this.#commits = connection.countCommits()
  }

  /** Watches the file until it is touched. */
  begin(): void {
    if (this.#watcher !== undefined || this.#poll !== undefined) return
    try {
      this.#watcher = watchPlace(this.#file, (name) => this.#onTouch(name))
      this.#watcher.on('error', () => this.#pollInstead())
    } catch {
      return this.#pollInstead()
    }
    // Commits between the last look and the start of the watch.
    this.#look()
  }

  stop(): void {
    this.#isStopped = true
    this.#unwatch()
    clearInterval(this.#poll)
    clearTimeout(this.#timer)
  }

  #onTouch(name: string | null): void {
    if (name !== this.#wal) return
    // The -wal may have been replaced by a new file, and looking suffices for now.
    this.#unwatch()
    const isLookedSoon = this.#timer !== undefined && this.#looked <= busy + 1
    if (isLookedSoon) return
    clearTimeout(this.#timer)
    // If this connection has just committed, the first looks are skipped: it is busy.
    this.#looked = this.#connection.countCommits() === this.#commits ? 0 : busy
    this.#lookLater()
  }

  #lookLater(): void {
    const pauseMs = pausesMs[this.#looked++]
    if (pauseMs !== undefined) this.#timer = setTimeout(() => this.#lookAgain(), pauseMs).unref()
  }

  #lookAgain(): void {
    this.#timer = undefined
    if (this.#look()) {
      this.#looked = busy
      this.#unwatch()
    } else if (this.#looked > busy) this.begin()
    if (!this.#isStopped) this.#lookLater()
  }

  /** Hints at commits of other connections. Returns whether any connection has committed since the last look. */
  #look(): boolean {
    const version = this.#connection.readVersion()
    const count = this.#connection.countCommits()
    const isNews = version !== undefined && version !== this.#seen
    const isBusy = isNews || count !== this.#commits
    this.#commits = count
    if (isNews && performance.now() >= this.#restUntil) {
      this.#seen = version
      this.#hint()
    }
    return isBusy
  }

  #hint(): void {
    const from = performance.now()
    this.#onHint()
    setImmediate(() => {
      const now = performance.now()
      this.#restUntil = now + Math.min(maxRestMs, restShare * (now - from))
    })
  }

  #unwatch(): void {
    this.#watcher?.close()
    this.#watcher = undefined
  }

  #pollInstead(): void {
    this.#unwatch()
    clearTimeout(this.#timer)
    this.#poll ??= setInterval(() => this.#look(), pollMs).unref()
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
