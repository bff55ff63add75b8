import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Starts a program of ./programs in a process of its own. `maxFiles`: so many it may have open at once. */
export function startProgram(
  name: string,
  args: readonly string[] = [],
  nodeArgs: readonly string[] = [],
  maxFiles?: number,
): ChildProcessWithoutNullStreams {
  const file = fileURLToPath(new URL(`./programs/${name}.ts`, import.meta.url))
  const all = [...nodeArgs, '--conditions=@pawl/source', '--import', 'tsx', file, ...args]
  if (maxFiles === undefined) return spawn(process.execPath, all)
  return spawn('sh', ['-c', `ulimit -n ${maxFiles}; exec "$@"`, 'sh', process.execPath, ...all])
}

/** Starts it and waits until it has ended. */
export function runProgram(...what: Parameters<typeof startProgram>): Promise<Ended> {
  const child = startProgram(...what)
  const written = { stdout: '', stderr: '' }
  child.stdout.on('data', (text) => (written.stdout += text))
  child.stderr.on('data', (text) => (written.stderr += text))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, ...written }))
  })
}
