import { type ChildProcess, spawn } from 'node:child_process'

/** Time for a worker to finish its steps before it is killed. A kill loses nothing. */
const graceMs = 1000

export interface ChildWorkerOptions {
  /** Arguments of the process after those of Node. */
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  /** Each line that it writes. */
  readonly onLine: (line: string) => void
  /** Called if the worker exits unasked. */
  readonly onExit: (status: number | null) => void
}

/** A worker in a process of its own, replaced when the code changes. */
export class ChildWorker {
  readonly #options: ChildWorkerOptions
  #child: ChildProcess | undefined
  #replacing: Promise<void> = Promise.resolve()

  constructor(options: ChildWorkerOptions) {
    this.#options = options
  }

  /** Ends the present process, if any, and starts another. Several calls in a row run one after the other. */
  replace(): Promise<void> {
    this.#replacing = this.#replacing.then(() => this.#end()).then(() => this.#start())
    return this.#replacing
  }

  async stop(): Promise<void> {
    await this.#replacing
    await this.#end()
  }

  #start(): void {
    const { args, cwd, env, onLine, onExit } = this.#options
    const child = spawn(process.execPath, [...process.execArgv, ...args], {
      ...{ cwd, env },
      // The channel closes when this process is killed, and the worker then stops by itself.
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    })
    this.#child = child
    for (const stream of [child.stdout, child.stderr]) if (stream !== null) readLines(stream, onLine)
    child.once('exit', (status) => {
      if (this.#child !== child) return
      this.#child = undefined
      onExit(status)
    })
  }

  async #end(): Promise<void> {
    const child = this.#child
    if (child === undefined) return
    this.#child = undefined
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
    child.kill('SIGTERM')
    const timer = setTimeout(() => child.kill('SIGKILL'), graceMs)
    await ended
    clearTimeout(timer)
  }
}

function readLines(stream: NodeJS.ReadableStream, onLine: (line: string) => void): void {
  let rest = ''
  stream.setEncoding('utf8')
  stream.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    lines.forEach(onLine)
  })
  stream.on('end', () => {
    if (rest !== '') onLine(rest)
  })
}
