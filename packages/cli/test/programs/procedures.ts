import { appendFileSync, existsSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { decider, FinalError, procedure } from '@pawl/core'
import { z } from 'zod'

export const greet = procedure(
  { name: 'greet', input: z.object({ name: z.string() }) },
  async (ctx, { name }) => {
    const answer = await ctx.human.approve('Greet {name}?', {
      params: { name },
      editable: ['name'],
      key: 'greet',
    })
    return answer.approved ? `Hello, ${answer.params.name}` : 'silence'
  },
)
/** Deletes although no person has answered. */
export const strict = procedure({ name: 'strict' }, async (ctx) => {
  const { comment } = await ctx.human.approve('Delete it?', { require: 'comment-on-reject' })
  return comment ?? ''
})
export const hasty = procedure({ name: 'hasty' }, async (ctx) => {
  const approval = await ctx.human.approve('Delete?', { timeout: '1h', onTimeout: 'reject' })
  if (!approval.approved && !approval.timedOut) return 'kept'
  await ctx.step('delete', () => {})
  return 'deleted'
})
/** Deletes beside its question. */
export const forgetful = procedure({ name: 'forgetful' }, async (ctx) => {
  ctx.human.approve('Delete?')
  await ctx.sleep('1h')
  await ctx.step('delete', () => {})
})
export const add = procedure({ name: 'add' }, (ctx) => ctx.step('add', () => 1 + 1))
export const fail = procedure({ name: 'fail' }, (ctx) =>
  ctx.step(
    'fail',
    () => {
      throw new Error('no')
    },
    { retry: false },
  ),
)
/** Tells two things, and its undo fails. */
export const telling = procedure({ name: 'telling', owner: 'group:money' }, async (ctx) => {
  await ctx.human.notify('Order 7 is\tlate', {
    ...{ severity: 'warning', to: 'group:ops' },
    details: [
      { title: 'Reason', body: 'no\nstock' },
      { title: 'Stock', body: { seven: 0 } },
      ...Array.from({ length: 9 }, (_, n) => ({ title: `Shop ${n}`, body: 'x'.repeat(300) })),
    ],
    links: [{ label: 'Runbook', url: 'https://example.org/stock' }],
  })
  await ctx.step('pack', () => {}, { undo: () => {} })
  await ctx.step('charge', () => {}, { undo: () => Promise.reject(new FinalError('the bank says no')) })
  throw new FinalError('after all')
})
/** Shows texts from outside that read as lines of the command. */
export const forging = procedure({ name: 'forging', input: z.string() }, async (ctx, forged) => {
  await ctx.human.notify(`Told\n${forged}`, {
    details: [{ title: forged, body: forged }],
    links: [{ label: forged, url: 'https://example.org/told' }],
  })
  await ctx.human.approve(`Asked\n${forged}`, {
    params: { risk: 'low', [forged]: forged },
    risk: { level: 'high', reasons: [forged] },
    details: [{ title: forged, body: `body\n${forged}` }],
    links: [{ label: forged, url: 'https://example.org/asked' }],
  })
})
/** Has a bug after its question. */
export const breaks = procedure({ name: 'breaks' }, async (ctx) => {
  await ctx.human.select('Continue?', ['yes', 'no'])
  const missing: { readonly part?: string } = JSON.parse('{}')
  return (missing.part as string).length
})
/** Its second step fails until a file exists. */
export const fixable = procedure({ name: 'fixable' }, async (ctx) => {
  await ctx.step('load', () => 'loaded')
  return ctx.step(
    'send',
    () => {
      if (!existsSync('fixed')) throw new Error('it is down')
      return 'sent'
    },
    { retry: false },
  )
})
/** Its first step fails, and 600 more do not. */
export const early = procedure({ name: 'early' }, async (ctx) => {
  const fail = () => {
    throw new Error('no')
  }
  await ctx.step('fail', fail, { retry: false }).catch(() => {})
  await Promise.all(Array.from({ length: 600 }, () => ctx.step('go', () => 0)))
})
export const order = procedure(
  {
    name: 'order',
    input: z.object({
      item: z.string().min(3),
      where: z.object({ town: z.string() }),
      express: z.boolean().default(false),
    }),
  },
  async (_ctx, input) => input,
)
/** Refuses its only possible input. */
export const refusing = procedure(
  {
    name: 'refusing',
    input: z.object({ kind: z.literal('a') }).refine(() => false, 'It is refused'),
  },
  async () => 'started',
)
export const enter = procedure({ name: 'enter' }, (ctx) => ctx.human.input('Your name?', z.string()))
export const pick = procedure({ name: 'pick' }, (ctx) => ctx.human.select('Where to?', ['north', 'south']))
/** One choice is dangerous although it refuses, and the other one is risky. */
export const discard = procedure({ name: 'discard' }, async (ctx) => {
  const choices = [
    { value: 'approve', label: 'Keep' },
    { value: 'reject', label: 'Delete the draft', style: 'danger' },
  ] as const
  const { choice } = await ctx.human.review('Keep it?', 'draft', { choices, risk: 'critical' })
  return choice
})
export const review = procedure({ name: 'review' }, (ctx) =>
  ctx.human.review('Publish?', 'old', { editable: true }),
)
export const escalate = procedure({ name: 'escalate' }, (ctx) => ctx.human.escalate('It is broken'))
export const wait = procedure({ name: 'wait', signals: { go: z.number() } }, (ctx) => ctx.receive('go'))

export const person = z.object({
  name: z.string().min(3),
  age: z.int().optional(),
  size: z.enum(['small', 'large']),
  doors: z.array(z.enum(['front', 'lab'])),
  keys: z.array(z.string()),
  isGuest: z.boolean(),
  note: z.string().nullable(),
})
export const form = procedure({ name: 'form' }, (ctx) => ctx.human.input('Who gets keys?', person))
export const edit = procedure({ name: 'edit' }, (ctx) =>
  ctx.human.review('Release this?', { tag: 'v1' }, { editable: true, baseline: { tag: 'v0' } }),
)
const unsure = decider('unsure', async () => ({ choice: 'go', rationale: 'perhaps', confidence: 0.1 }))
export const decide = procedure({ name: 'decide' }, (ctx) =>
  ctx.agent.decide('Plausible?', ['go', 'stop'], {
    agent: unsure,
    minConfidence: 0.9,
    fallback: { ask: { to: 'group:ops' } },
  }),
)
/** Asks a user, or everybody. */
export const pass = procedure(
  { name: 'pass', input: z.object({ to: z.templateLiteral(['user:', z.string()]).optional() }) },
  (ctx, { to }) => ctx.human.approve('Pass?', to === undefined ? {} : { to }),
)
export const leaf = procedure({ name: 'leaf' }, async () => 'leaf')
/** Starts a child beside its question. */
export const hurried = procedure({ name: 'hurried' }, async (ctx) => {
  ctx.human.approve('Begin?')
  await ctx.spawn(leaf, undefined)
  await ctx.sleep('1h')
})
export const branch = procedure({ name: 'branch' }, (ctx) => ctx.call(leaf, undefined, { id: 'leaf:1' }))
export const tree = procedure({ name: 'tree' }, async (ctx) => {
  await ctx.call(branch, undefined, { id: 'branch:1' })
  await ctx.call(leaf, undefined, { id: 'leaf:2' })
})
export const delegate = procedure({ name: 'delegate' }, (ctx) => ctx.call(pick, undefined, { id: 'pick:1' }))
/** Names two points, and waits. */
export const save = procedure({ name: 'save' }, async (ctx) => {
  await ctx.checkpoint('begun', { step: 1 })
  await ctx.checkpoint('waiting')
  await ctx.human.select('Continue?', ['yes', 'no'])
})
/** Shows its color, which an update changes, until it is stopped. */
export const told = procedure(
  {
    name: 'told',
    input: z.object({ color: z.string() }),
    signals: { stop: z.void() },
    updates: { paint: { input: z.string(), output: z.string() } },
    state: { color: z.string() },
  },
  async (ctx, { color }) => {
    let now = color
    ctx.expose('color', now)
    ctx.on('paint', (next) => {
      const before = now
      now = next
      ctx.expose('color', now)
      return before
    })
    await ctx.receive('stop')
    return `stopped ${now}`
  },
)
export const nap = procedure({ name: 'nap' }, (ctx) => ctx.sleep('30s'))
/** Its code is another one once a file exists. */
export const changing = procedure({ name: 'changing' }, async (ctx) => {
  await ctx.step(existsSync('changed') ? 'new' : 'old', () => 1)
  return ctx.human.select('Continue?', ['yes', 'no'])
})
/** Its change has an old branch only until a file exists. */
export const changed = procedure({ name: 'changed' }, async (ctx) => {
  if (existsSync('offered')) ctx.version('greeting', 1, 2)
  return ctx.human.select('Continue?', ['yes', 'no'])
})
/** Writes down each step outside of the store, a moment before it is recorded. */
export const ledger = procedure({ name: 'ledger' }, async (ctx) => {
  for (let index = 0; index < 12; index++)
    await ctx.step(`entry ${index}`, async () => {
      appendFileSync('ledger', `${index}\n`)
      await pause(40)
      return index
    })
  return 12
})
/** Writes down each step. The second one ends once a file exists. */
export const held = procedure({ name: 'held' }, async (ctx) => {
  await ctx.step('first', () => appendFileSync('ledger', 'first\n'))
  await ctx.step('second', async () => {
    appendFileSync('ledger', 'second\n')
    while (!existsSync('open')) await pause(10)
  })
  return 'done'
})
