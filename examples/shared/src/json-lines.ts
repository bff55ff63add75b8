import { appendFile, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

// Files that outlive a `kill -9`. It can cut a write off in its middle (Linux ends one between two pages), so each
// line brings its own line break along, in front: what is behind half a line is whole.

/** Appends one line of JSON. */
export async function appendLine(file: string, line: object): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  await appendFile(file, format(line))
}

/** What was appended so far, the oldest first. What was cut off counts as never written. */
export async function readLines<Line extends object>(file: string): Promise<readonly Line[]> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  return text.split('\n').flatMap((line) => (isWhole(line) ? [JSON.parse(line) as Line] : []))
}

/** Puts other lines into a file: either all of them are there afterwards, or the old ones still are. */
export async function replaceLines(file: string, lines: readonly object[]): Promise<void> {
  await writeFile(`${file}.new`, lines.map(format).join(''))
  await rename(`${file}.new`, file)
}

const format = (line: object): string => `\n${JSON.stringify(line)}`

/** An object's JSON is whole when it can be read: no beginning of one can. */
function isWhole(line: string): boolean {
  try {
    return line !== '' && typeof JSON.parse(line) === 'object'
  } catch {
    return false
  }
}
