import { type Logger, type Procedure, procedure } from '@pawl/core'
import { installGuard, installShield, readEngineOptions, wrapCalls } from '@pawl/core/internal'
import type { WholeStore } from '@pawl/core/storage'
import { createStore } from '../../src/memory/store.ts'
import { makeTables, type RunRecord, type Tables } from '../../src/memory/tables.ts'
import { createSeededEntropy } from '../../src/seeded-entropy.ts'
import { VirtualClock } from '../../src/virtual-clock.ts'
import { SimulatedProcess } from '../simulation/process.ts'

export interface FleetOptions {
  /** How long the one step of run `i` takes, in ms. */
  readonly stepMs: (index: number) => number
  /** By run: its step kills its process after so many ms, each time. */
  readonly culprits?: Readonly<Record<number, number>>
  readonly runs: number
  /** How many processes work at once. Default 1. */
  readonly processes?: number
  readonly maxCrashes?: number
  /** A process's way to the store. */
  readonly connect?: (port: WholeStore) => WholeStore
}

/** Processes that are started again when they die, in virtual time. */
export class Fleet {
  readonly tables: Tables = makeTables()
  readonly clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'))
  deaths = 0
  /** How often the step of a run was begun, by run. */
  readonly begun = new Map<number, number>()
  readonly lines: string[] = []
  readonly #options: FleetOptions
  readonly #procedure: Procedure<undefined, string>
  readonly #undo: (() => void)[]
  #processes: SimulatedProcess[] = []
  /** The process whose step begins now. */
  #current: SimulatedProcess | null = null
  #started = 0

  constructor(options: FleetOptions) {
    this.#options = options
    this.#procedure = procedure({ name: 'work' }, (ctx) =>
      ctx.step('work', () => this.#work(Number(ctx.runId))),
    )
    this.#undo = [installShield(), installGuard('virtual')]
  }

  /** Creates the runs, and lets as many processes die over all of them at once as given. */
  async begin(deaths = 0): Promise<void> {
    const { runs } = this.#options
    const client = this.#start(false).client
    for (let index = 0; index < runs; index++)
      await client.run(this.#procedure, undefined, { id: `${index}` })
    const port = await this.connect()
    const procedures = [{ name: 'work', versions: [1] }]
    for (let death = 0; death < deaths; death++) {
      const worker = await port.workers.register({ name: 'doomed', leaseMs: -1 })
      await port.claims.claim({ worker, procedures }, runs)
      await port.workers.sweep()
    }
  }

  async connect(): Promise<WholeStore> {
    const port = createStore(this.tables, () => this.clock.now)
    await port.open()
    return port
  }

  /** Starts what is missing and lets so much time pass. Ends early if `isDone`. */
  async pass(ms: number, isDone: () => boolean = () => false): Promise<void> {
    const until = this.clock.now + ms
    for (;;) {
      while (this.#processes.length < (this.#options.processes ?? 1)) this.#processes.push(this.#start(true))
      await this.settle()
      if (isDone() || this.clock.now >= until) return
      const next = Math.min(until, this.clock.now + 250, this.clock.nextAt ?? Number.POSITIVE_INFINITY)
      this.clock.moveTo(Math.max(next, this.clock.now + 1))
    }
  }

  /** Until all runs have completed or are quarantined, or so many processes have died. */
  untilOver(maxDeaths = 1_000): Promise<void> {
    return this.pass(
      1e9,
      () =>
        this.deaths >= maxDeaths ||
        this.runs.every(({ state, mark }) => state !== 'live' || mark === 'quarantined'),
    )
  }

  /** Lets the processes do what needs no time. */
  async settle(): Promise<void> {
    for (let left = 3; left > 0; left--) {
      for (let rounds = 8; rounds > 0; rounds--) await new Promise<void>((next) => setImmediate(next))
      if (this.#processes.some(({ isUp, isAtRest }) => !isUp || !isAtRest)) continue
    }
  }

  /** As SIGKILL of all processes; the store sees that they are gone. */
  kill(): void {
    for (const process of [...this.#processes]) this.#die(process)
  }

  get runs(): readonly RunRecord[] {
    return [...this.tables.runs.values()]
  }

  /** Those in the hands of live processes. */
  get owned(): readonly RunRecord[] {
    return this.runs.filter(
      ({ worker }) => worker !== null && this.tables.workers.get(worker)?.isDead === false,
    )
  }

  get quarantined(): readonly string[] {
    return this.runs.filter(({ mark }) => mark === 'quarantined').map(({ id }) => id)
  }

  close(): void {
    for (const process of this.#processes) process.kill()
    for (const undo of this.#undo) undo()
  }

  async #work(index: number): Promise<string> {
    const process = this.#current as SimulatedProcess
    this.begun.set(index, (this.begun.get(index) ?? 0) + 1)
    const killsAfter = this.#options.culprits?.[index]
    if (killsAfter !== undefined) {
      if (killsAfter > 0) await process.wait(killsAfter)
      this.#die(process)
      return new Promise(() => {})
    }
    await process.wait(this.#options.stepMs(index))
    return 'done'
  }

  #die(process: SimulatedProcess): void {
    if (process.state === 'dead') return
    this.deaths++
    process.kill()
    this.#processes = this.#processes.filter((one) => one !== process)
    const record = this.tables.workers.get(process.worker ?? -1)
    // Its lease has expired: as if the store had seen at once that it is gone.
    if (record !== undefined) record.beatAt = Number.NEGATIVE_INFINITY
  }

  #start(hasWorker: boolean): SimulatedProcess {
    const n = ++this.#started
    const { maxCrashes, connect = (port) => port } = this.#options
    const say = (level: string) => (message: string) => void this.lines.push(`${level}: ${message}`)
    const given = { procedures: [this.#procedure], ...(maxCrashes === undefined ? {} : { maxCrashes }) }
    const process: SimulatedProcess = new SimulatedProcess({
      name: `process ${n}`,
      isWrong: false,
      clock: this.clock,
      pace: 1,
      entropy: createSeededEntropy(1, n),
      logger: { debug: () => {}, info: say('info'), warn: say('warn'), error: say('error') } satisfies Logger,
      settings: hasWorker ? { ...readEngineOptions({ ...given, concurrency: 10_000 }) } : null,
      keep: { runs: 0, bytes: 0 },
      replay: 'when-needed',
      slices: { begun: 256, drafts: 256 },
      connect: () => {
        const port = createStore(this.tables, () => this.clock.now)
        return connect(asCalledBy(() => process, port))
      },
      onBody: (at) => {
        this.#current = at
      },
    })
    process.start().catch((error) => this.lines.push(`error: ${String(error)}`))
    return process
  }
}

/** Calls of a dead process are never answered. */
function asCalledBy(caller: () => SimulatedProcess, port: WholeStore): WholeStore {
  return wrapCalls(port, (name, call) => {
    if (name === 'watch') return call
    return async (...args) => {
      await caller().running()
      const outcome = await call(...args)
      if (name === 'workers.register') caller().worker = outcome as number
      await caller().running()
      return outcome
    }
  })
}
