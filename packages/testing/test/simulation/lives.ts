import type { Chance } from './chance.ts'

/** What chance has drawn about the generations of a procedure. */
export interface Lives {
  /** The number of its generations. Each goes through the same tree, in places of its own. */
  readonly rounds: number
}

export function drawLives(chance: Chance): Lives {
  return { rounds: chance.oneIn(3) ? chance.between(2, 3) : 1 }
}

/** The place of the tree in a generation, from 1 on. */
export function rootOf(round: number): string {
  return round === 1 ? '/' : `/g${round}/`
}

/** By which the traces of a generation are found. */
export function lifeOf(run: string, round: number): string {
  return `${run} in round ${round}`
}
