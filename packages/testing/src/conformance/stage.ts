import {
  type Claimant,
  connectTo,
  type NewRun,
  type RunRow,
  type UnitOutcome,
  type WholeStore,
  type WorkerKey,
} from '@pawl/core/storage'
import { expect, it } from 'vitest'
import { newRun, type Standing, type UnitParts, unitFor } from './builders.ts'
import { findFaults } from './invariants.ts'
import type { Damage, Dump, Place, StoreSubject } from './subject.ts'
import { makePromised, type Promised, type Skip, witness } from './witness.ts'

/** Declares a test on a fresh place and checks the invariants afterwards. */
export type StageTest = (name: string, body: (stage: Stage) => Promise<void>) => void

export function makeStageTest(subject: StoreSubject): StageTest {
  return (name, body) => {
    it(name, async ({ skip }) => {
      const stage = await Stage.open(subject, skip)
      try {
        await body(stage)
        await stage.checkInvariants()
      } finally {
        await stage.close()
      }
    })
  }
}

/** A place, its connections, and the common first steps of the tests. */
export class Stage {
  /** The first connection. */
  readonly port: WholeStore
  readonly #place: Place
  readonly #ports: WholeStore[]
  readonly #promised: Promised
  readonly #skip: Skip

  private constructor(place: Place, port: WholeStore, promised: Promised, skip: Skip) {
    this.#place = place
    this.#promised = promised
    this.#skip = skip
    this.port = port
    this.#ports = [port]
  }

  static async open(subject: StoreSubject, skip: Skip): Promise<Stage> {
    const place = await subject.make()
    const promised = makePromised()
    return new Stage(place, await openPort(place, promised, skip), promised, skip)
  }

  async close(): Promise<void> {
    for (const port of this.#ports) await port.close()
    await this.#place.remove()
  }

  /** Opens another connection, like another process. */
  async connect(): Promise<WholeStore> {
    const port = await openPort(this.#place, this.#promised, this.#skip)
    this.#ports.push(port)
    return port
  }

  dump(): Promise<Dump> | Dump {
    return this.#place.dump()
  }

  /** Damages the row of a run while `body` runs. */
  async whileDamaged(run: string, how: Damage, body: () => Promise<void>): Promise<void> {
    const heal = await this.#place.damage(run, how)
    await body()
    await heal()
  }

  async checkInvariants(): Promise<void> {
    const now = await this.port.now()
    expect(findFaults(await this.dump(), this.#promised, now)).toEqual([])
  }

  worker(leaseMs = 60_000): Promise<WorkerKey> {
    return this.port.workers.register({ name: 'test', leaseMs })
  }

  /** Registers a worker that is dead at the next sweep. */
  doomedWorker(): Promise<WorkerKey> {
    return this.worker(-1000)
  }

  /** Registers a worker with the procedures it can execute. Default: `refund` in version 1. */
  async claimant(
    procedures: Claimant['procedures'] = [{ name: 'refund', versions: [1] }],
  ): Promise<Claimant> {
    return { worker: await this.worker(), procedures }
  }

  /** Creates a run for a worker, with its first event only. */
  async owned(id: string, worker: WorkerKey, overrides: Partial<NewRun> = {}): Promise<Standing> {
    const [created] = await this.port.runs.create([newRun(id, { worker, ...overrides })])
    if (created?.outcome !== 'created') throw new Error(`${id} is taken`)
    return { run: created.run, id, worker, epoch: 1, head: 1, seen: 0 }
  }

  /** Creates a waiting run without an owner. */
  async parked(id: string, worker: WorkerKey, overrides: UnitParts = {}): Promise<Standing> {
    const standing = await this.owned(id, worker)
    const outcome = await this.commit(standing, { next: { do: 'park', wakeAt: null }, ...overrides })
    expect(outcome).toMatchObject({ outcome: 'ok', parked: true })
    return standing
  }

  /** Creates a run that has ended. */
  async ended(
    id: string,
    worker: WorkerKey,
    state: 'completed' | 'failed' | 'cancelled' = 'completed',
  ): Promise<Standing> {
    const standing = await this.owned(id, worker)
    expect(await this.commit(standing, { next: { do: 'end', state } })).toMatchObject({ outcome: 'ok' })
    return standing
  }

  /** Commits one unit and, if it was written, advances the basis. */
  async commit(
    standing: Standing,
    overrides: UnitParts = {},
    port: WholeStore = this.port,
  ): Promise<UnitOutcome> {
    const unit = unitFor(standing, overrides)
    const [outcome] = await port.log.commit(standing.worker, [unit])
    if (!outcome) throw new Error('a commit without an outcome')
    if (outcome.outcome === 'ok') standing.head += unit.events.length
    return outcome
  }

  async find(id: string): Promise<RunRow> {
    const row = await this.port.runs.find(id)
    if (!row) throw new Error(`there is no run ${id}`)
    return row
  }

  /** Resolves when the store's clock has passed the given time. */
  async passed(instant: number): Promise<void> {
    while ((await this.port.now()) <= instant) await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

async function openPort(place: Place, promised: Promised, skip: Skip): Promise<WholeStore> {
  const port = connectTo(place.store)
  if (!port) throw new Error('The store was not made by defineStore.')
  await port.open()
  return witness(port, promised, skip)
}
