import { findFaults } from './verdict.ts'
import { World } from './world.ts'

export interface Played {
  /** What went wrong, world by world, with what happened there. Empty: nothing. */
  readonly faults: readonly string[]
  readonly bodies: number
  readonly events: number
  /** How often runs changed hands. */
  readonly takeovers: number
}

/** Plays one world for each seed. */
export async function play(seeds: readonly number[]): Promise<Played> {
  const faults: string[] = []
  let bodies = 0
  let events = 0
  let takeovers = 0
  for (const seed of seeds) {
    const world = new World({ seed, runs: 8, rounds: 600 })
    await world.play()
    const found = findFaults(world)
    if (found.length > 0) faults.push([`SEED=${seed}`, ...found, '', ...world.diary].join('\n'))
    bodies += world.bodies.begun.length
    for (const run of world.tables.runs.values()) {
      events += run.events.length
      takeovers += run.epoch - 1
    }
  }
  return { faults, bodies, events, takeovers }
}
