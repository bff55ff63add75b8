import { procedure } from '@pawl/core'
import { z } from 'zod'
import { act, member } from '../member.ts'

/** The price rises. No run has got as far as that, so the code may simply change. */
export const renew = procedure(
  { name: 'renew', input: member, output: z.string() },
  async (ctx, { name }) => {
    await ctx.step('welcome', () => act(`write to ${name}: welcome`))
    if (ctx.version('card', 1, 2) === 2) await ctx.step('send a card', () => act(`send a card to ${name}`))
    await ctx.sleep('365d')
    const answer = await ctx.human.approve(`Renew the membership of ${name} for 110 EUR?`)
    if (!answer.approved) return 'it has ended'
    await ctx.step('charge', () => act(`charge ${name} 110 EUR`))
    return 'it continues'
  },
)
