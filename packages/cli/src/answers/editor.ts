import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The command of the editor, with arguments: `$VISUAL` or `$EDITOR`. */
export function findEditor(): string | undefined {
  return process.env['VISUAL'] || process.env['EDITOR'] || undefined
}

export interface Edited {
  /** Exit status of the editor; null if a signal ended it. */
  readonly status: number | null
  readonly saved: string
}

/** Opens text in an editor. Only the user can read the file. */
export async function openEditor(editor: string, text: string, extension: string): Promise<Edited> {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-edit-'))
  const file = join(folder, `artifact${extension}`)
  const listen = ignoreInterrupts()
  try {
    writeFileSync(file, text, { mode: 0o600 })
    // The editor is a command line of the user's own, such as `code --wait`.
    const status = await new Promise<number | null>((resolve, reject) => {
      openIn(editor, file).once('error', reject).once('exit', resolve)
    })
    return { status, saved: readFileSync(file, 'utf8') }
  } finally {
    listen()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Ctrl-C belongs to the editor: the terminal sends it to this process as well. Returns a function that listens again. */
function ignoreInterrupts(): () => void {
  const listeners = process.rawListeners('SIGINT') as NodeJS.SignalsListener[]
  const ignore = (): void => {}
  process.on('SIGINT', ignore)
  for (const listener of listeners) process.off('SIGINT', listener)
  return () => {
    for (const listener of listeners) process.on('SIGINT', listener)
    process.off('SIGINT', ignore)
  }
}

/**
 * On POSIX the shell gets the path as a parameter, so that nothing in it is read as part of the command, and waits for the editor on
 * Ctrl-C.
 */
function openIn(editor: string, file: string): ChildProcess {
  return process.platform === 'win32'
    ? spawn(`${editor} "${file}"`, { shell: true, stdio: 'inherit' })
    : spawn('/bin/sh', ['-c', `trap : INT; ${editor} "$1"`, 'sh', file], { stdio: 'inherit' })
}
