import { procedure } from '@pawl/core'
import { z } from 'zod'
import { appendLine } from '../../shared/src/json-lines.ts'
import { fileOf } from './folder.ts'

const lastMonth = `# About your refund

Dear customer,

we have refunded your order. The money is on its way.

- It arrives within **ten** working days.
- Questions? Call us between 9 and 12.

Kind regards
The shop
`

const thisMonth = `# About your refund

Dear customer,

we are sorry that your order went wrong. We have refunded it today.

- It arrives within **three** working days.
- You may keep what you have received.
- Questions? Reply to this letter.

Kind regards
The shop
`

/** Asks a person to review the letter that goes to the customers of a refund, beside the letter of last month. */
export const sendLetter = procedure(
  { name: 'send-letter', output: z.enum(['sent', 'discarded']) },
  async (ctx) => {
    const review = await ctx.human.review('Send this letter to the customers?', thisMonth, {
      as: 'markdown',
      baseline: lastMonth,
      editable: true,
      risk: 'medium',
    })
    if (review.choice === 'reject') return 'discarded'
    await ctx.step('send the letter', () => appendLine(fileOf('letters.jsonl'), { text: review.artifact }))
    return 'sent'
  },
)
