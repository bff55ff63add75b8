import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

/** A worker in a process of its own. */
export class WorkerProcess {
  readonly #child: ChildProcess
  readonly #exited: Promise<unknown>
  readonly #ready: Promise<unknown>

  constructor(program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    this.#child = spawn(process.execPath, [program, ...args], {
      // Its stdin ends with this process, however that ends, and the worker with it.
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, ...env },
    })
    this.#exited = once(this.#child, 'exit')
    this.#ready = once(this.#child.stdout as NodeJS.ReadableStream, 'data')
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  /** Resolves when the worker works, or has ended before it could. */
  async ready(): Promise<void> {
    await Promise.race([this.#ready, this.#exited])
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

  /** Asks it to stop, and waits until it has. */
  async stop(): Promise<void> {
    this.#child.kill('SIGTERM')
    await this.#exited
  }

  /** Resolves when it has ended of itself. */
  async ended(): Promise<void> {
    await this.#exited
  }
  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }
}
