import { appendFile, mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Where this example keeps its files: the payments ledger, the diary and, unless PAWL_STORE says otherwise, the database. */
export function fileOf(name: string): string {
  return join(process.env['REFUND_FOLDER'] || '.pawl/refund', name)
}

/** Appends one line of JSON. */
export async function appendLine(name: string, line: object): Promise<void> {
  await mkdir(fileOf(''), { recursive: true })
  await appendFile(fileOf(name), `${JSON.stringify(line)}\n`)
}

/** What was appended so far, the oldest first. */
export async function readLines<Line>(name: string): Promise<readonly Line[]> {
  const text = await readFile(fileOf(name), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  const lines = text.split('\n').filter((line) => line !== '')
  return lines.map((line) => JSON.parse(line) as Line)
}
