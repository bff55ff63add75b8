import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { usageError } from '../door/problem.ts'

/** Opens text in `$VISUAL` or `$EDITOR` and returns what was saved. Only the user can read the file. */
export async function editText(text: string, extension: string): Promise<string> {
  const editor = process.env['VISUAL'] || process.env['EDITOR']
  if (!editor) throw usageError('Set `EDITOR` to edit an artifact, or pass `--artifact @file`.')
  const folder = mkdtempSync(join(tmpdir(), 'pawl-edit-'))
  const file = join(folder, `artifact${extension}`)
  try {
    writeFileSync(file, text, { mode: 0o600 })
    // The editor is a command line of the user's own, such as `code --wait`.
    const status = await new Promise<number | null>((resolve, reject) => {
      openIn(editor, file).once('error', reject).once('exit', resolve)
    })
    if (status !== 0) throw usageError(`The editor ended with status ${status}; nothing was answered.`)
    return readFileSync(file, 'utf8')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** On POSIX the shell gets the path as a parameter, so that nothing in it is read as part of the command. */
function openIn(editor: string, file: string): ChildProcess {
  return process.platform === 'win32'
    ? spawn(`${editor} "${file}"`, { shell: true, stdio: 'inherit' })
    : spawn('/bin/sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit' })
}
