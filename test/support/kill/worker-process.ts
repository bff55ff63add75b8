import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

/** A worker in a process of its own. */
export class WorkerProcess {
  readonly #child: ChildProcess
  readonly #exited: Promise<unknown>

  constructor(program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    this.#child = spawn(process.execPath, [program, ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, ...env },
    })
    this.#exited = once(this.#child, 'exit')
  }

  /** Resolves when the worker works, or has ended before it could. */
  async ready(): Promise<void> {
    await Promise.race([once(this.#child.stdout as NodeJS.ReadableStream, 'data'), this.#exited])
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#exited
  }

  pause(): void {
    this.#child.kill('SIGSTOP')
  }
  goOn(): void {
    this.#child.kill('SIGCONT')
  }

  /** Resolves when it has ended of itself. */
  async ended(): Promise<void> {
    await this.#exited
  }
  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }
}
