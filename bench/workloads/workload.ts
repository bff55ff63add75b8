import type { Engine } from '@pawl/core'
import { createEngine } from '@pawl/core'
import type { Line } from '../actor.ts'
import type { Address, Place } from '../places/place.ts'
import { asking, fan, sequence, sequenceThenWait, waiting } from '../procedures.ts'

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
}

export function startEngine(place: Place): Promise<Engine> {
  return createEngine({
    store: place.store(),
    procedures: [sequence, fan, waiting, asking, sequenceThenWait],
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
