import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** A server in a process of its own. */
export class ServerProcess {
  readonly #child: ChildProcess
  readonly #exited: Promise<unknown>
  readonly url: string

  private constructor(child: ChildProcess, url: string) {
    this.#child = child
    this.#exited = once(child, 'exit')
    this.url = url
  }

  /** Resolves when it listens. @throws Error if it ends before */
  static async start(program: string, location: string): Promise<ServerProcess> {
    // Its stdin ends with this process, however that ends, and the server with it.
    const child = spawn(process.execPath, [program, location], { stdio: ['pipe', 'pipe', 'inherit'] })
    for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream }))
      return new ServerProcess(child, line.replace(/\/$/, ''))
    throw new Error('The server ended before it listened.')
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#exited
  }
}
