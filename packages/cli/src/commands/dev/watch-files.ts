import { type FSWatcher, watch } from 'node:fs'
import { sep } from 'node:path'

const isCode = /\.(?:[cm]?[jt]sx?|json)$/
const skipped: ReadonlySet<string> = new Set(['node_modules', '.git', '.pawl', 'dist', 'coverage'])

/** Editors write a file in several steps. */
const quietMs = 100

/** Calls back when code below a folder has changed and nothing more did for a moment. */
export function watchFiles(folder: string, onChange: (file: string) => void): { close(): void } {
  let timer: NodeJS.Timeout | undefined
  const watcher: FSWatcher = watch(folder, { recursive: true }, (_event, file) => {
    if (file === null || !isCode.test(file) || file.split(sep).some((part) => skipped.has(part))) return
    clearTimeout(timer)
    timer = setTimeout(onChange, quietMs, file)
  })
  return {
    close() {
      clearTimeout(timer)
      watcher.close()
    },
  }
}
