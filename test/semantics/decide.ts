import { decider, procedure } from '@pawl/core'
import { z } from 'zod'
import { fail } from './support.ts'

export const judge = decider('judge', async () => fail())

export interface DecideGiven {
  readonly minConfidence?: number
  readonly fallback?: unknown
  readonly timeout?: string
  readonly attempts?: number
}

/** Decides between 'go' and 'stop'. Its input overrides the options. */
export const decide = procedure({ name: 'decide', input: z.any() }, (ctx, options: DecideGiven | undefined) =>
  ctx.agent.decide('Plausible?', ['go', { value: 'stop', label: 'Stop it' }], {
    agent: judge,
    material: { n: 5 },
    fallback: 'stop',
    ...(options as object),
  }),
)
