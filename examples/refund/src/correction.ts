import { procedure } from '@pawl/core'
import { z } from 'zod'
import { appendLine } from '../../shared/src/json-lines.ts'
import { fileOf } from './folder.ts'
import { type BadLine, cards } from './orders.ts'

const badLine = z.object({ line: z.number(), text: z.string(), why: z.string() })

const order = z.object({
  id: z.string().regex(/^A-\d{4}$/),
  card: z.enum(cards),
  amount: z.number().positive().max(100).describe('In EUR.'),
  reason: z.string().min(1),
  pickedUp: z.iso.date().optional().describe('If the customer has sent the goods back.'),
})

/** Asks a person for the order that an invalid line of a book was meant to be, and files it for the next book. */
export const correctLine = procedure(
  { name: 'correct-line', input: badLine, output: z.string() },
  async (ctx, bad: BadLine) => {
    const corrected = await ctx.human.input('Line {line} of the order book is invalid: {why}', order, {
      data: { line: bad.line, why: bad.why },
      details: [{ title: `Line ${bad.line}`, body: bad.text }],
      initial: initialOf(bad.text),
    })
    await ctx.step('file the correction', () => appendLine(fileOf('corrections.jsonl'), corrected))
    return corrected.id
  },
)

/** What can be read of the line, so that the person changes only what is wrong. */
function initialOf(text: string): Partial<z.input<typeof order>> {
  const [id = '', card = '', amount = '', reason = ''] = text.split(',').map((field) => field.trim())
  const known = cards.find((name) => name === card)
  return { id, ...(known === undefined ? {} : { card: known }), amount: Number(amount) || 0, reason }
}
