import { decider, type Procedure, procedure } from '@pawl/core'
import { z } from 'zod'

const order = z.object({ orderId: z.string(), amount: z.number().positive().max(450) })

export const refund: Procedure<{ orderId: string; amount: number }, string> = procedure(
  { name: 'refund', input: order, output: z.string() },
  async (ctx, { orderId, amount }) => {
    const paid = await ctx.step('load order', () => ({ paid: amount, card: 'visa', customer: 'C-1042' }))
    const approval = await ctx.human.approve('Refund {amount} EUR for order {orderId}?', {
      params: { orderId, amount },
      editable: ['amount'],
      schema: order,
      to: 'group:support',
      key: 'approve',
      timeout: '3h',
      onTimeout: 'keep-waiting',
      risk: {
        level: 'high',
        reasons: ['leaves the company'],
        reversible: false,
        impact: { amount, currency: 'EUR', affects: '1 customer' },
      },
      alternatives: [{ label: 'Store credit', description: 'costs nothing today' }],
      links: [{ label: 'Order in the shop', url: 'https://shop.example/orders/A-1' }],
      details: [{ title: 'What the customer wrote', body: 'The parcel arrived empty.\nPlease refund it.' }],
    })
    if (!approval.approved) return 'declined'
    return ctx.step('refund', () => `refunded ${approval.params.amount} of ${paid.paid}`)
  },
)

const profile = z.object({
  name: z.string().min(1).describe('As on the badge.'),
  email: z.email(),
  since: z.iso.date().optional(),
  desks: z.number().int().min(1).max(4),
  doors: z.enum(['front', 'lab', 'archive']),
  isRemote: z.boolean(),
  keys: z.array(z.object({ room: z.string(), until: z.iso.date().optional() })).max(5),
})

const onboard: Procedure<undefined, string> = procedure(
  { name: 'onboard', output: z.string() },
  async (ctx) => {
    const person = await ctx.human.input('Who gets the keys of the new office?', profile, {
      to: 'group:office',
      key: 'person',
    })
    return `keys for ${person.name}`
  },
)

const release: Procedure<undefined, string> = procedure(
  { name: 'release', output: z.string() },
  async (ctx) => {
    await ctx.step('run the tests', () => ({ passed: 412, failed: 0 }))
    return ctx.human.select(
      'Where does version 2.1 go?',
      [
        { value: 'staging', label: 'Staging', effect: 'The team sees it.' },
        {
          value: 'production',
          label: 'Production',
          effect: 'Customers see it within a minute.',
          style: 'danger',
        },
      ],
      { key: 'where', risk: 'medium' },
    )
  },
)

const notesBefore =
  '# Version 2.0\n\n- The inbox shows the newest ask first.\n- Exports are CSV.\n\nThanks to all testers.\n'
const notesAfter =
  '# Version 2.1\n\n- The inbox shows the **most urgent** ask first.\n- Exports are CSV and JSON.\n- Dark mode.\n\nThanks to all testers. Read [the guide](https://docs.example/2.1).\n'

const publish: Procedure<undefined, string> = procedure(
  { name: 'publish', output: z.string() },
  async (ctx) => {
    const review = await ctx.human.review('Publish these release notes?', notesAfter, {
      as: 'markdown',
      baseline: notesBefore,
      editable: true,
      to: ['group:marketing', 'user:ana'],
      key: 'notes',
      timeout: '2d',
    })
    return `${review.choice}: ${review.artifact}`
  },
)

const closing: Procedure<undefined, string> = procedure(
  { name: 'closing', output: z.string() },
  async (ctx) => {
    const { choice } = await ctx.human.escalate('The totals of October differ by 2.00 EUR', {
      severity: 'critical',
      choices: [
        { value: 'recount', label: 'Count again', effect: 'Reads all 1,204 bookings, about 4 minutes.' },
        {
          value: 'abort',
          label: 'Stop the closing',
          effect: 'The month stays open.',
          style: 'danger',
        },
      ],
      error: new RangeError('120 <> 118'),
      key: 'totals',
    })
    return choice
  },
)

const classifier = decider('classifier', async () => ({
  choice: 'spam',
  rationale: 'An offer with a price, from a guest.',
  confidence: 0.62,
}))

const moderate: Procedure<undefined, string> = procedure(
  { name: 'moderate', output: z.string() },
  async (ctx) => {
    const { choice } = await ctx.agent.decide('Is this comment spam?', ['spam', 'keep', 'ask the author'], {
      material: { author: 'guest-17', text: 'Cheap watches, best price!!' },
      fallback: { ask: { to: 'role:moderator' } },
      agent: classifier,
      minConfidence: 0.9,
      key: 'spam',
    })
    return choice
  },
)

/** A procedure before and after a step was renamed while a run was waiting. */
const shipWith = (step: string): Procedure<undefined, string> =>
  procedure({ name: 'ship', output: z.string() }, async (ctx) => {
    await ctx.step('check stock', () => ({ boxes: 3 }))
    await ctx.step(step, () => 'box 12')
    const { approved } = await ctx.human.approve('Hand the parcel over?', { key: 'hand over' })
    return approved ? 'shipped' : 'kept'
  })
export const shipBefore = shipWith('pack')
export const ship = shipWith('wrap')

/** Stops at an error of its own. */
export const broken: Procedure<undefined, string> = procedure(
  { name: 'broken', output: z.string() },
  async (ctx) => {
    const files = await ctx.step('list files', (): string[] => [])
    return (files[0] as string).toUpperCase()
  },
)

/** Does a step after each signal. */
export const job = procedure(
  { name: 'job', signals: { next: z.undefined() } },
  async (ctx): Promise<string> => {
    for (let index = 1; index <= 20; index += 1) {
      await ctx.receive('next')
      await ctx.step(`step ${index}`, () => index)
    }
    return 'done'
  },
)

// biome-ignore lint/suspicious/noExplicitAny: procedures of any input
export const procedures: readonly Procedure<any, string>[] = [
  refund,
  onboard,
  release,
  publish,
  closing,
  moderate,
]
