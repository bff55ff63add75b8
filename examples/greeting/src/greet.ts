import { procedure } from '@pawl/core'
import { z } from 'zod'
import { Greeting, writer } from './writer.ts'

export const reviewers = 'queue:greeting-reviewers/approvals'

/** Has a greeting written, and sends it out only as a reviewer agreed to it. */
export const greet = procedure(
  { name: 'greet', input: z.object({ name: z.string().min(1) }), output: Greeting },
  async (ctx, { name }) => {
    const feedback: string[] = []
    for (;;) {
      const { greeting, confidence } = await ctx.agent(writer, { name, feedback })
      const review = await ctx.human.review('Approve this greeting?', greeting.message, {
        choices: [
          { value: 'approve', effect: 'sends it' },
          { value: 'revise', effect: 'has it written again, with your comment in mind' },
          { value: 'reject', effect: 'sends a plain one' },
        ],
        details: [
          { title: 'Mood', body: greeting.mood },
          { title: 'Confidence', body: confidence },
        ],
        to: reviewers,
        timeout: '1h',
        onTimeout: 'escalate',
      })
      switch (review.choice) {
        case 'approve':
          return greeting
        case 'reject':
          return { message: 'Hello.', mood: 'neutral' }
        case 'revise':
          feedback.push(review.comment ?? '')
      }
    }
  },
)
