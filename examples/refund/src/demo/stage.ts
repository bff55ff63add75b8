import { setTimeout as pause } from 'node:timers/promises'
import type { Client, RunHandle } from '@pawl/core'
import type { Child } from '../../../shared/src/child.ts'
import { readDiary } from '../diary.ts'
import { startProgram } from '../programs.ts'
import type { Entry } from './entry.ts'

const patienceMs = 30_000

/** One run on one store, and the workers that come and go. */
export class Stage {
  readonly client: Client
  readonly run: RunHandle<unknown>
  /** In the order they were started. */
  readonly workers: Child[] = []

  constructor(client: Client, run: RunHandle<unknown>) {
    this.client = client
    this.run = run
  }

  async startWorker(): Promise<Child> {
    const worker = startProgram('worker')
    this.workers.push(worker)
    await worker.line(/is ready/)
    return worker
  }

  /** What the log holds with a result: what a worker that starts now will not do again. */
  async recorded(): Promise<readonly Entry[]> {
    const { execution_log } = await this.client.log(this.run.id)
    return execution_log.filter(({ result }) => result !== null)
  }

  /** What a worker really ran, from the diary that the steps keep. */
  async ranBy({ pid }: Child): Promise<readonly string[]> {
    const diary = await readDiary()
    return diary.filter((entry) => entry.pid === pid).map(({ ran }) => ran)
  }

  /** Looks until there is something to see. Fails when the worker ends meanwhile, or when it takes too long. */
  async until<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
    const worker = this.workers.at(-1)
    const wrote = (): string => `it wrote:\n${worker?.output()}`
    let over = false
    void worker?.ended.then(() => {
      over = true
    })
    const endsAt = Date.now() + patienceMs
    for (;;) {
      const seen = await look()
      if (seen !== undefined) return seen
      if (over) throw new Error(`the worker ended before ${what}; ${wrote()}`)
      if (Date.now() > endsAt)
        throw new Error(`the worker took more than ${patienceMs / 1000} s until ${what}; ${wrote()}`)
      await pause(10)
    }
  }

  /** Stops every process it started. */
  async clear(): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.kill()))
  }
}
