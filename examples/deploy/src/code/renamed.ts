import { procedure } from '@pawl/core'
import { z } from 'zod'
import { act, member } from '../member.ts'

/** Only a step has another name: the runs that sleep have recorded the old one. */
export const renew = procedure(
  { name: 'renew', input: member, output: z.string() },
  async (ctx, { name }) => {
    await ctx.step('send the welcome mail', () => act(`write to ${name}: welcome`))
    await ctx.sleep('365d')
    const answer = await ctx.human.approve(`Renew the membership of ${name} for 100 EUR?`)
    if (!answer.approved) return 'it has ended'
    await ctx.step('charge', () => act(`charge ${name} 100 EUR`))
    return 'it continues'
  },
)
