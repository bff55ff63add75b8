// A support desk: a model with three tools, one of which moves money and asks a person first.
import { durableTools, idempotencyKeyOf } from '@pawl/ai-sdk'
import { type Procedure, procedure } from '@pawl/core'
import { generateText, isStepCount, tool } from 'ai'
import { z } from 'zod'
import { chooseModel, type OnCall } from './model.ts'
import type { Services } from './services.ts'

interface DeskOptions {
  readonly services: Services
  readonly onCall?: OnCall
  /** Called when a tool has had its effect, and before that is recorded. */
  readonly afterEffect?: (tool: string) => Promise<void>
}

/** The procedure of the desk. It returns the model's last words. */
export function createDesk({
  services,
  onCall = async () => {},
  afterEffect = async () => {},
}: DeskOptions): Procedure<{ question: string }, string> {
  const lookUp = tool({
    description: 'Looks an order up.',
    inputSchema: z.object({ order: z.string() }),
    execute: async ({ order }) => ({ order, cents: 4_500, paidBy: 'card' }),
  })
  const writeNote = tool({
    description: 'Writes a note to an order.',
    inputSchema: z.object({ order: z.string(), note: z.string() }),
    execute: async ({ order, note }, options) => {
      await services.do(`note to ${order}: ${note}`, idempotencyKeyOf(options) ?? order)
      await afterEffect('writeNote')
      return 'noted'
    },
  })
  const refund = tool({
    description: 'Refunds an order. The money is gone then.',
    inputSchema: z.object({ order: z.string(), cents: z.int().positive() }),
    needsApproval: true,
    execute: async ({ order, cents }, options) => {
      await services.do(`refund of ${cents} cents for ${order}`, idempotencyKeyOf(options) ?? order)
      return { refunded: cents }
    },
  })

  return procedure(
    { name: 'desk', input: z.object({ question: z.string() }), output: z.string() },
    async (ctx, { question }) => {
      const { text } = await generateText({
        model: chooseModel(ctx, onCall),
        ...durableTools(ctx, { lookUp, writeNote, refund }, { approve: refundApproval }),
        stopWhen: isStepCount(8),
        prompt: question,
      })
      return text
    },
  )
}

const refundApproval = {
  message: 'Refund {cents} cents for {order}?',
  to: 'group:support',
  editable: ['cents'],
  risk: 'high',
} as const
