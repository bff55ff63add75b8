import { type Actor, startActor } from '../actor.ts'
import type { Case } from '../cases.ts'
import type { Address } from '../places/place.ts'
import type { Places } from '../places/places.ts'
import type { Figures, Job } from '../workloads/workload.ts'
import type { Build, Side } from './builds.ts'

/** A side of a comparison failed. Its engine may lack a feature that the case needs. */
export class SideFailed extends Error {
  readonly side: Side

  constructor(side: Side, cause: unknown) {
    super(`${side}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    this.side = side
  }
}

/** One side of a case, played turn by turn. */
export interface Player {
  readonly side: Side
  /** Resolves once the first turn can begin. */
  prepare(): Promise<void>
  turn(): Promise<void>
  finish(): Promise<Figures>
  /** Ends its process and deletes its databases. */
  remove(): Promise<void>
}

export interface PlayerOptions {
  readonly side: Side
  readonly build: Build
  readonly places: Places
  readonly turns: number
  readonly size: number | undefined
}

export function createPlayer(one: Case, options: PlayerOptions): Player {
  const player = one.fresh === true ? createFreshPlayer(one, options) : createLastingPlayer(one, options)
  const name = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work
    } catch (error) {
      throw new SideFailed(options.side, error)
    }
  }
  return {
    side: options.side,
    prepare: () => name(player.prepare()),
    turn: () => name(player.turn()),
    finish: () => name(player.finish()),
    remove: () => player.remove(),
  }
}

type Unnamed = Omit<Player, 'side'>

/** One process for all turns. */
function createLastingPlayer(one: Case, { build, places, turns, size }: PlayerOptions): Unnamed {
  let address: Address | undefined
  let actor: Actor | undefined
  const hear = async (expected: string): Promise<void> => {
    const received = await actor?.hear()
    if (received !== expected)
      throw new Error(`"${one.name}" said ${String(received)} in place of ${expected}`)
  }
  return {
    async prepare() {
      address = await places.make()
      const job: Job = { address, rounds: turns, size, compared: { server: places.server } }
      actor = startActor(one.role ?? one.name, job, build.program)
      await hear('ready')
    },
    turn() {
      actor?.tell('go')
      return hear('done')
    },
    finish: async () => ((await actor?.result()) ?? {}) as Figures,
    async remove() {
      await actor?.kill()
      if (address !== undefined) await places.drop(address)
    },
  }
}

/** A process and a place of its own for each turn. */
function createFreshPlayer(one: Case, { build, places, size }: PlayerOptions): Unnamed {
  const values: { [figure: string]: number[] } = {}
  let actor: Actor | undefined
  return {
    prepare: async () => {},
    async turn() {
      const address = await places.make()
      actor = startActor(one.role ?? one.name, { address, rounds: 1, size } satisfies Job, build.program)
      const figures = (await actor.result()) as Figures
      for (const [name, more] of Object.entries(figures)) values[name] = [...(values[name] ?? []), ...more]
      await places.drop(address)
    },
    finish: async () => values,
    remove: async () => actor?.kill(),
  }
}
