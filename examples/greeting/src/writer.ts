import { agent } from '@pawl/core'
import { z } from 'zod'

export const Greeting = z.object({
  message: z.string(),
  mood: z.enum(['warm', 'formal', 'playful', 'neutral']),
})
export type Greeting = z.infer<typeof Greeting>

type Mood = Exclude<Greeting['mood'], 'neutral'>

const phrases: {
  readonly [mood in Mood]: { readonly openings: readonly string[]; readonly wishes: readonly string[] }
} = {
  warm: {
    openings: [
      'Dear {name}, how good to have you here.',
      'Welcome, {name}!',
      '{name}, it is lovely that you came.',
    ],
    wishes: [
      'We hope you will feel at home.',
      'If anything is missing, just say so.',
      'There is tea on the stove.',
    ],
  },
  formal: {
    openings: [
      'Dear {name}, we have the pleasure of welcoming you.',
      'Good day, {name}.',
      '{name}, please be welcome.',
    ],
    wishes: ['We remain at your service.', 'We look forward to working with you.', 'With our best regards.'],
  },
  playful: {
    openings: ['Look who is here: {name}!', 'Hip hip, {name}!', '{name}! We kept the good chair for you.'],
    wishes: [
      'The biscuits are behind the printer.',
      'No one saw you come in late.',
      'Please do not feed the servers.',
    ],
  },
}

/**
 * Writes a greeting, with regard to what reviewers said of earlier ones. No model and no network, but like one
 * it never says the same thing twice: what it said before a crash is in the log, or lost.
 */
export const writer = agent(
  {
    name: 'greeting writer',
    input: z.object({ name: z.string(), feedback: z.array(z.string()) }),
    output: z.object({ greeting: Greeting, confidence: z.number() }),
  },
  async ({ name, feedback }, { usage }) => {
    const wanted = feedback.join(' ').toLowerCase()
    const mood: Mood = /formal|polite|serious/.test(wanted)
      ? 'formal'
      : /fun|playful|joke/.test(wanted)
        ? 'playful'
        : 'warm'
    const { openings, wishes } = phrases[mood]
    const opening = pick(openings).replace('{name}', name)
    const message = /short/.test(wanted) ? opening : `${opening} ${pick(wishes)}`
    usage({ model: 'phrases', outputTokens: message.split(' ').length })
    return { greeting: { message, mood }, confidence: /^\p{L}[\p{L} .'-]*$/u.test(name) ? 0.9 : 0.4 }
  },
)

function pick(phrases: readonly string[]): string {
  return phrases[Math.floor(Math.random() * phrases.length)] ?? ''
}
