import type { Engine, Logger } from '@pawl/core'
import { createEngine } from '@pawl/core'
import type { Line } from '../actor.ts'
import type { Address, Place } from '../places/place.ts'
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
}

/** Large payloads and a busy machine are what is measured here: nothing to warn of. */
const errorsOnly: Logger = { debug() {}, info() {}, warn() {}, error: console.error }

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
