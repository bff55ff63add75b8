import type { Engine, Logger } from '@pawl/core'
import { createEngine } from '@pawl/core'
import type { Line } from '../actor.ts'
import type { Cost } from '../base/clock.ts'
import { warmUp } from '../base/pace.ts'
import type { Address, Place, RawTable } from '../places/place.ts'
import {
  asking,
  carrying,
  fan,
  rewound,
  sequence,
  sequenceThenWait,
  waiting,
  watchedSequence,
} from '../procedures.ts'

/** Values of one figure by name: one for each round, or one for each of many calls. */
export interface Figures {
  readonly [figure: string]: readonly number[]
}

/** What a process of the bench does; what it returns goes back to the one that started it. */
// biome-ignore lint/suspicious/noExplicitAny: each role knows its own input
export type Role = (input: any, line: Line) => Promise<unknown>

export interface Job {
  readonly address: Address
  /** How often the timed part is repeated, beside one that is not counted. */
  readonly rounds: number
  /** How much: steps, runs, events, bytes or workers; what a job does without it is its default. */
  readonly size?: number | undefined
  /** Given if the engine is compared with another one. */
  readonly compared?: Compared | undefined
}

/** What is different in a job whose rounds alternate with those of another engine, in another process. */
export interface Compared {
  /** The first process of the database server. */
  readonly server?: number | undefined
}

/** The rounds that are timed. Each waits for its turn if the job is compared. */
export async function* roundsOf({ rounds, compared }: Job, line: Line): AsyncGenerator<number> {
  if (compared !== undefined) line.tell('ready')
  for (let round = 0; round < rounds; round++) {
    if (compared !== undefined) await line.hear()
    yield round
    if (compared !== undefined) line.tell('done')
  }
}

/** Does rounds that are not timed. Of a job that is compared, the first turns are left out in place of them. */
export function warmUpFor({ compared }: Job, round: () => Promise<unknown>): Promise<void> {
  return compared === undefined ? warmUp(round) : warmUp(round, 0)
}

/** Opens a table for raw commits; null if the job is compared: the other engine is the measure then. */
export async function openRawBeside(place: Place, { compared }: Job): Promise<RawTable | null> {
  return compared === undefined ? place.openRaw() : null
}

/** Processor time per step, in µs. */
export function costPerStep({ cpuMs, serverMs }: Cost, steps: number): { readonly [figure: string]: number } {
  const perStep = (ms: number): number => (ms / steps) * 1_000
  return {
    cpuUsPerStep: perStep(cpuMs),
    ...(serverMs === undefined ? {} : { serverUsPerStep: perStep(serverMs) }),
  }
}

/** Large payloads and a busy machine are what is measured here: nothing to warn of. */
export const errorsOnly: Logger = { debug() {}, info() {}, warn() {}, error: console.error }

export function startEngine(place: Pick<Place, 'store'>): Promise<Engine> {
  return createEngine({
    store: place.store(),
    logger: errorsOnly,
    procedures: [sequence, fan, waiting, asking, sequenceThenWait, rewound, carrying, watchedSequence],
  })
}

/** Gathers figures round by round. */
export class Tally {
  readonly #figures: { [figure: string]: number[] } = {}

  add(figures: { readonly [figure: string]: number }): void {
    for (const [name, value] of Object.entries(figures))
      this.#figures[name] = [...(this.#figures[name] ?? []), value]
  }

  get figures(): Figures {
    return this.#figures
  }
}
