import { agent, decider } from '@pawl/core'
import { z } from 'zod'
import type { State } from './rules.ts'

const places = [
  'a hall of broken mirrors',
  'a stair that goes down too far',
  'a pantry with warm soup',
  'a well without a bottom',
]
const foes = [
  'a goblin with a ledger',
  'two tired skeletons',
  'a moth the size of a door',
  'the shadow of a knight',
]
const moods = [
  'It has not seen you.',
  'It smiles.',
  'It seems to know your name.',
  'It hums a song from your village.',
]

/** Tells what is in a room. Like a model, and unlike the procedure, it would not say the same thing twice. */
export const narrator = agent(
  {
    name: 'narrator',
    input: z.object({ name: z.string(), room: z.number() }),
    output: z.object({ text: z.string() }),
  },
  async ({ name, room }, { usage }) => {
    const text = `Room ${room}: ${name} finds ${pick(places)} and in it ${pick(foes)}. ${pick(moods)}`
    usage({ model: 'dice and phrases', outputTokens: text.split(' ').length })
    return { text }
  },
)

/** Looks after the hero before the last door. */
export const squire = decider('squire', async ({ material }) => {
  const { health, potions } = material as State
  if (health >= 8) return { choice: 'continue', rationale: `${health} health will do`, confidence: 0.9 }
  return { choice: 'camp', rationale: `${health} health and ${potions} potions are too few`, confidence: 0.9 }
})

function pick(phrases: readonly string[]): string {
  return phrases[Math.floor(Math.random() * phrases.length)] ?? ''
}
