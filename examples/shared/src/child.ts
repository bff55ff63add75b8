import { spawn } from 'node:child_process'
import { extname } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export interface Ending {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** Another process that runs a TypeScript program. */
export interface Child {
  readonly pid: number
  /** All it has written so far, to stdout and to stderr. */
  output(): string
  /** The first line of its output that matches. Rejects when the process ends without one. */
  line(pattern: RegExp): Promise<string>
  /** Ends it and waits until it is gone. Default SIGKILL, which no program can catch. */
  kill(signal?: NodeJS.Signals): Promise<Ending>
  readonly ended: Promise<Ending>
}

export interface ChildOptions {
  readonly args?: readonly string[]
  /** Added to the environment of this process; undefined takes away. */
  readonly env?: { readonly [name: string]: string | undefined }
  /** Options of Node that make it run TypeScript. Default: those of this process. */
  readonly node?: readonly string[]
}

/**
 * Starts a process, tied to this one by a channel that closes when either ends.
 * @param program without its ending, which is that of `beside`: .ts from the sources, .js once compiled
 * @param beside the file that asks, as a URL
 * @example startChild('./worker', import.meta.url)
 */
export function startChild(program: string, beside: string, options: ChildOptions = {}): Child {
  const { args = [], env = {}, node = process.execArgv } = options
  const file = fileURLToPath(new URL(program + extname(beside), beside))
  const child = spawn(process.execPath, [...node, file, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  const lines: string[] = []
  const watchers = new Set<(line: string | null) => void>()
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line)
      for (const watcher of watchers) watcher(line)
    })
  }
  const ended = new Promise<Ending>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      for (const watcher of watchers) watcher(null)
      resolve({ code, signal })
    })
  })

  return {
    pid: child.pid ?? 0,
    ended,
    output: () => lines.join('\n'),
    line: (pattern) =>
      new Promise((resolve, reject) => {
        const watch = (line: string | null): void => {
          if (line !== null && !pattern.test(line)) return
          watchers.delete(watch)
          if (line !== null) resolve(line)
          else reject(new Error(`${file} ended without writing ${pattern}:\n${lines.join('\n')}`))
        }
        const written = lines.find((line) => pattern.test(line))
        if (written !== undefined) return resolve(written)
        if (child.exitCode !== null || child.signalCode !== null) return watch(null)
        watchers.add(watch)
      }),
    kill: (signal = 'SIGKILL') => {
      child.kill(signal)
      return ended
    },
  }
}
