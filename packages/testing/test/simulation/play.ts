import { countConsents } from './gate-verdict.ts'
import { countRetries } from './lives.ts'
import { countContinued } from './lives-verdict.ts'
import { skipsUndos } from './undo-verdict.ts'
import { findFaults } from './verdict.ts'
import { World } from './world.ts'

export interface Played {
  /** What went wrong, world by world, with what happened there. Empty: nothing. */
  readonly faults: readonly string[]
  readonly bodies: number
  readonly events: number
  /** How often runs changed hands. */
  readonly takeovers: number
  /** Runs that killed their workers, and how many of these were quarantined. */
  readonly deadly: number
  readonly found: number
  /** Other runs that were quarantined: chance had killed their workers. */
  readonly unlucky: number
  /** Runs that were cancelled and that failed, and undos that were recorded. */
  readonly cancelled: number
  readonly failed: number
  readonly undos: number
  /** Cancelled runs that ended without their code, so that nothing was undone. */
  readonly withoutCode: number
  /** Children, and replies to updates that callers received. */
  readonly children: number
  readonly replies: number
  /** Actions that had the consent of a person. */
  readonly consents: number
  /** Generations that runs have begun, and checkpoints in their logs. */
  readonly continued: number
  readonly checkpoints: number
  /** Generations that took the place of one that had failed. */
  readonly retried: number
}

/** Plays one world for each seed. */
export async function play(seeds: readonly number[]): Promise<Played> {
  const faults: string[] = []
  let bodies = 0
  let events = 0
  let takeovers = 0
  let [cancelled, failed, undos, withoutCode] = [0, 0, 0, 0]
  let [deadly, found, unlucky] = [0, 0, 0]
  let [children, replies, consents] = [0, 0, 0]
  let [continued, checkpoints, retried] = [0, 0, 0]
  for (const seed of seeds) {
    const world = new World({ seed, runs: 8, rounds: 600 })
    await world.play()
    const wrong = findFaults(world)
    if (wrong.length > 0) faults.push([`SEED=${seed}`, ...wrong, '', ...world.diary].join('\n'))
    bodies += world.bodies.begun.length
    replies += world.acknowledged.replies.length
    deadly += world.deadlyDeleted
    found += world.deadlyDeleted
    for (const run of world.tables.runs.values()) {
      const isDeadly = world.bodies.deadly.has(run.id)
      if (isDeadly) deadly++
      if (run.mark === 'quarantined') {
        if (isDeadly) found++
        else unlucky++
      }
      consents += countConsents(run)
      continued += countContinued(run)
      retried += countRetries(run)
      checkpoints += run.events.filter(({ kind }) => kind === 'checkpoint').length
      if (run.parent !== null) children++
      if (run.state === 'cancelled') cancelled++
      if (run.state === 'failed') failed++
      if (skipsUndos(run)) withoutCode++
      undos += run.events.filter(({ type, kind }) => type === 'settled' && kind === 'undo').length
      events += run.events.length
      takeovers += run.epoch - 1
    }
  }
  const ends = { deadly, found, unlucky, cancelled, failed, undos, withoutCode }
  const lives = { continued, checkpoints, retried }
  return { faults, bodies, events, takeovers, ...ends, children, replies, consents, ...lives }
}
