import fs, { type FSWatcher } from 'node:fs'
import { basename, dirname } from 'node:path'

/** How long to look after the file was touched: the watch fires at the write, just before the commit can be seen. */
const looks = 20
const pauseMs = 1
/** Where the directory cannot be watched. */
const pollMs = 25

/**
 * Calls back when another connection has committed. `readVersion` gives a number that changes with every
 * commit of another connection; undefined while that cannot be told.
 */
export function watchCommits(
  file: string,
  readVersion: () => number | undefined,
  onHint: () => void,
): () => void {
  const wal = `${basename(file)}-wal`
  let seen = readVersion()
  let left = 0
  let timer: NodeJS.Timeout | undefined

  function look(): void {
    timer = undefined
    const version = readVersion()
    if (version !== undefined && version !== seen) {
      seen = version
      onHint()
    }
    left--
    if (left > 0) schedule()
  }
  function schedule(): void {
    timer ??= setTimeout(look, pauseMs).unref()
  }

  let watcher: FSWatcher | undefined
  let poll: NodeJS.Timeout | undefined
  const pollInstead = () => {
    watcher?.close()
    poll ??= setInterval(look, pollMs).unref()
  }
  try {
    // The directory, not the file: the -wal is made anew whenever the last connection was closed.
    watcher = fs.watch(dirname(file), { persistent: false }, (_event, name) => {
      if (name !== wal) return
      left = looks
      schedule()
    })
    watcher.on('error', pollInstead)
  } catch {
    pollInstead()
  }
  return () => {
    watcher?.close()
    clearInterval(poll)
    clearTimeout(timer)
    left = 0
  }
}
