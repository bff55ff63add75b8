import { relative, sep } from 'node:path'
import { watch } from 'chokidar'

const isCode = /\.(?:[cm]?[jt]sx?|json)$/
const skipped: ReadonlySet<string> = new Set(['node_modules', '.git', '.pawl', 'dist', 'coverage'])

/** Editors write a file in several steps. */
const quietMs = 100

/** Watches the code below a folder, however it is saved: in place, by a rename, or by a checkout. */
export interface FileWatcher {
  /** Resolves when every folder is watched. */
  readonly ready: Promise<void>
  close(): Promise<void>
}

/** Calls back with the path of a file of code when it has changed and nothing more did for a moment. */
export function watchFiles(folder: string, onChange: (file: string) => void): FileWatcher {
  let timer: NodeJS.Timeout | undefined
  const watcher = watch(folder, {
    ignoreInitial: true,
    // Below the folder only: the folder itself may be in one of that name.
    ignored: (path) =>
      relative(folder, path)
        .split(sep)
        .some((part) => skipped.has(part)),
  })
  watcher.on('all', (event, file) => {
    if (!isCode.test(file) || event === 'addDir' || event === 'unlinkDir') return
    clearTimeout(timer)
    timer = setTimeout(onChange, quietMs, relative(folder, file))
  })
  return {
    ready: new Promise((resolve) => watcher.once('ready', () => resolve())),
    async close() {
      clearTimeout(timer)
      await watcher.close()
    },
  }
}
