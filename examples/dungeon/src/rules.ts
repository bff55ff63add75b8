import { z } from 'zod'

export const Hero = z.object({ name: z.string().min(1).max(20), trade: z.enum(['rogue', 'wizard']) })
export type Hero = z.infer<typeof Hero>

export const Move = z.enum(['fight', 'sneak', 'drink', 'rest'])
export type Move = z.infer<typeof Move>

/** How the hero is doing. */
export interface State {
  readonly health: number
  readonly potions: number
}

export const rooms = 4

export function enter({ trade }: Hero): State {
  return { health: trade === 'rogue' ? 12 : 9, potions: trade === 'rogue' ? 1 : 3 }
}

export function movesOf({ potions }: State): Move[] {
  return potions > 0 ? ['fight', 'sneak', 'drink', 'rest'] : ['fight', 'sneak', 'rest']
}

export interface Played {
  readonly state: State
  readonly tale: string
}

/** What a move does, and how it is told. @param roll draws a number in [0, 1) */
export function play({ health, potions }: State, move: Move, { trade }: Hero, roll: () => number): Played {
  switch (move) {
    case 'fight': {
      const lost = 1 + Math.floor(roll() * 4)
      return { state: { health: health - lost, potions }, tale: `Won, at the price of ${lost} health.` }
    }
    case 'sneak': {
      const isSeen = roll() < (trade === 'rogue' ? 0.2 : 0.5)
      if (!isSeen) return { state: { health, potions }, tale: 'Not a sound. Past it.' }
      return { state: { health: health - 5, potions }, tale: 'Seen! That cost 5 health.' }
    }
    case 'drink':
      return {
        state: { health: health + 4, potions: potions - 1 },
        tale: 'The potion tastes of nettles: 4 health more.',
      }
    case 'rest':
      return { state: { health: health + 1, potions }, tale: 'A short rest: 1 health more.' }
  }
}

/** Blow for blow until one of them falls. */
export function fightDragon(
  health: number,
  roll: () => number,
): { readonly won: boolean; readonly health: number } {
  let dragon = 8
  let left = health
  while (dragon > 0 && left > 0) {
    dragon -= 1 + Math.floor(roll() * 4)
    if (dragon > 0) left -= 1 + Math.floor(roll() * 3)
  }
  return { won: dragon <= 0, health: Math.max(0, left) }
}
