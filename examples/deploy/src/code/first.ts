import { procedure } from '@pawl/core'
import { z } from 'zod'
import { act, member } from '../member.ts'

/** The code of the first day. */
export const renew = procedure(
  { name: 'renew', input: member, output: z.string() },
  async (ctx, { name }) => {
    await ctx.step('welcome', () => act(`write to ${name}: welcome`))
    await ctx.sleep('365d')
    const answer = await ctx.human.approve(`Renew the membership of ${name} for 100 EUR?`)
    if (!answer.approved) return 'it has ended'
    await ctx.step('charge', () => act(`charge ${name} 100 EUR`))
    return 'it continues'
  },
)
