import type { Child, Ending } from '../../../shared/src/child.ts'
import { startProgram } from '../programs.ts'

export type WorkerState = 'starting' | 'working' | 'killed' | 'ended'

/** The worker process of the demo: one at a time, started and killed by the buttons of the page. */
export class WorkerProcess {
  /** Of the present worker, starting at 1; 0 before the first. */
  number = 0
  /** How the killed workers ended. */
  readonly kills: Ending[] = []
  state: WorkerState = 'ended'
  #child: Child | undefined
  readonly #report: (line: string) => void

  /** @param report receives a line about each change */
  constructor(report: (line: string) => void) {
    this.#report = report
  }

  get pid(): number {
    return this.#child?.pid ?? 0
  }

  /** Starts a process, unless one is there, and resolves when it works. */
  async start(): Promise<void> {
    if (this.state === 'starting' || this.state === 'working') return
    this.state = 'starting'
    this.number += 1
    const child = startProgram('worker')
    this.#child = child
    void child.ended.then(() => {
      if (this.#child === child && this.state !== 'killed') this.state = 'ended'
    })
    await child.line(/is ready/)
    if (this.state === 'starting') this.state = 'working'
    this.#report(`worker ${this.number}, process ${child.pid}, works`)
  }

  /** Kills the process with SIGKILL and resolves when it is gone. */
  async kill(): Promise<void> {
    const child = this.#child
    if (child === undefined || this.state === 'killed' || this.state === 'ended') return
    this.state = 'killed'
    this.kills.push(await child.kill())
    this.#report(`worker ${this.number}, process ${child.pid}, was killed with SIGKILL`)
  }

  /** Ends the process, however it is. */
  async stop(): Promise<void> {
    await this.#child?.kill()
  }
}
