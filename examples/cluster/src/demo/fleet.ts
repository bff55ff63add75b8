import { setTimeout as pause } from 'node:timers/promises'
import type { Child, Ending } from '../../../shared/src/child.ts'
import { tell } from '../../../shared/src/tell.ts'
import { startWorker } from '../programs.ts'
import type { Records } from './records.ts'

/** Workers that are killed at random, and replaced. */
export class Fleet {
  /** How those ended that were killed. */
  readonly kills: Ending[] = []
  readonly #url: string
  readonly #records: Records
  /** By place; undefined while it is empty. */
  readonly #workers: (Child | undefined)[] = []
  readonly #all: Child[] = []

  constructor(url: string, records: Records) {
    this.#url = url
    this.#records = records
  }

  async start(count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, (_, place) => this.#startAt(place)))
  }

  /** The processes by place. */
  get pids(): readonly (number | undefined)[] {
    return this.#workers.map((worker) => worker?.pid)
  }

  /** Kills one worker after the other until it is told to stop. One worker always stays. */
  async raid(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      await pause(700 + Math.random() * 800)
      if (isOver()) return
      const place = Math.floor(Math.random() * this.#workers.length)
      await this.#killAt(place)
      await pause(Math.random() * 600)
      await this.#startAt(place)
    }
  }

  async #killAt(place: number): Promise<void> {
    const worker = this.#workers[place]
    if (worker === undefined) return
    const [held] = await this.#records.countHeld([worker.pid])
    this.kills.push(await worker.kill())
    this.#workers[place] = undefined
    tell.died(`worker ${place + 1}, process ${worker.pid}, with ${held} orders in its hands`)
  }

  async #startAt(place: number): Promise<void> {
    const worker = startWorker(this.#url)
    this.#all.push(worker)
    await worker.line(/is ready/)
    this.#workers[place] = worker
    tell.line('started', `worker ${place + 1}, process ${worker.pid}`)
  }

  /** Asks all to stop: they finish the steps they are in. */
  async stop(): Promise<void> {
    const stops = this.#workers.flatMap((worker) => (worker === undefined ? [] : [worker.kill('SIGTERM')]))
    await Promise.all(stops)
  }

  /** Stops every process it started. */
  async clear(): Promise<void> {
    await Promise.all(this.#all.map((worker) => worker.kill()))
  }
}
