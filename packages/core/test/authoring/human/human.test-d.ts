// oxlint-disable typescript/no-floating-promises -- nothing here is run
// biome-ignore-all lint/complexity/noBannedTypes: no signals and no params are {}
import { describe, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import type {
  Actor,
  Approval,
  Approved,
  ApproveOptions,
  Ctx,
  Deadline,
  Resolution,
  Review,
} from '../../../src/index.ts'

declare const ctx: Ctx
const { human } = ctx

describe('approve', () => {
  test('returns the approved params', async () => {
    const approval = await human.approve('Refund {amount} EUR for {orderId}?', {
      params: { orderId: 'A-1', amount: 45 },
      editable: ['amount'],
      risk: 'high',
      timeout: '1h',
      onTimeout: 'escalate',
    })
    expectTypeOf(approval).toEqualTypeOf<Approval<{ orderId: string; amount: number }>>()
    if (approval.approved) {
      expectTypeOf(approval.params.amount).toEqualTypeOf<number>()
      expectTypeOf(approval.modified).toEqualTypeOf<boolean>()
      expectTypeOf(approval.by).toEqualTypeOf<Actor>()
    } else {
      expectTypeOf(approval.timedOut).toEqualTypeOf<boolean>()
      expectTypeOf(approval.by).toEqualTypeOf<Actor | undefined>()
    }
  })

  test('requires no options for a message without placeholders', () => {
    expectTypeOf(human.approve('Go?')).toEqualTypeOf<Promise<Approval<{}>>>()
    const name: string = 'Ada'
    expectTypeOf(human.approve(`Greet ${name}?`)).toEqualTypeOf<Promise<Approval<{}>>>()
  })

  test('treats other braces as text', () => {
    human.approve('Use {} now')
    human.approve('Set {"a": 1}?')
    human.approve('{{count}} files', { data: { count: 1 } })
    // @ts-expect-error the name between the innermost braces
    human.approve('{{count}} files', {})
  })

  test('takes values that params cannot format from data', () => {
    human.approve('Delete {count} files from {dir}?', {
      params: { dir: '/tmp', files: ['a'] },
      data: { count: 1 },
    })
  })

  test('allows approval on timeout only with a stated low or medium risk', () => {
    human.approve('Water the plants?', { risk: 'low', timeout: '1h', onTimeout: 'approve' })
    human.approve('Water the plants?', {
      risk: { level: 'medium', reasons: ['wet'] },
      timeout: '1h',
      onTimeout: 'approve',
    })
  })

  test('accepts onTimeout with a timeout that may be undefined', () => {
    const timeout = undefined as Deadline | undefined
    human.approve('Go?', { timeout, onTimeout: 'fail' })
    human.select('Where to?', ['a', 'b'], { timeout, onTimeout: { default: 'b' } })
    human.review('Fine?', 'text', { timeout, onTimeout: { default: 'reject' } })
    human.input('Who?', z.string(), { timeout, onTimeout: { default: 'x' } })
    const options: ApproveOptions<{ amount: number }, 'low'> = { timeout, onTimeout: 'approve', risk: 'low' }
    expectTypeOf(human.approve('Go?', options)).toEqualTypeOf<Promise<Approval<{ amount: number }>>>()
  })

  test("returns only a yes with onReject: 'cancel-run'", () => {
    const options = { params: { amount: 1 }, onReject: 'cancel-run' } as const
    expectTypeOf(human.approve('Refund {amount}?', options)).resolves.toEqualTypeOf<
      Approved<{ readonly amount: 1 }>
    >()
    expectTypeOf(human.approve('Go?', { onReject: 'return' })).resolves.toEqualTypeOf<Approval<{}>>()
    // @ts-expect-error -- a no is returned, or cancels the run
    human.approve('Go?', { onReject: 'fail' })
    // @ts-expect-error -- only an approval has a no
    human.input('Who?', z.string(), { onReject: 'cancel-run' })
  })

  test('accepts a schema of the params, audiences and a deadline', () => {
    human.approve('Go?', {
      params: { amount: 1 },
      schema: z.object({ amount: z.number().max(45) }),
      to: ['group:ops', 'queue:refunds/large'],
      timeout: new Date(0),
      onTimeout: { escalateTo: 'role:manager' },
      history: { steps: ['load'] },
    })
  })
})

test('returns the output of the schema from input', async () => {
  const who = await human.input('Who?', z.object({ name: z.string(), age: z.number().optional() }), {
    initial: { name: 'Ada' },
    timeout: '1d',
    onTimeout: { default: { name: 'anonymous' } },
  })
  expectTypeOf(who).toEqualTypeOf<{ name: string; age?: number | undefined }>()
})

describe('select', () => {
  test('returns the selected value as a union', () => {
    expectTypeOf(human.select('Where to?', ['staging', 'production'])).toEqualTypeOf<
      Promise<'staging' | 'production'>
    >()
    expectTypeOf(human.select('Which?', ['a', { value: 'b', label: 'B', style: 'danger' }])).toEqualTypeOf<
      Promise<'a' | 'b'>
    >()
  })

  test('accepts choices that are known only at run time', () => {
    const exits: ('north' | 'fight')[] = ['north', 'fight']
    expectTypeOf(
      human.select('Which way?', exits, { timeout: '1d', onTimeout: { default: 'fight' } }),
    ).toEqualTypeOf<Promise<'north' | 'fight'>>()
    const names: string[] = ['a']
    expectTypeOf(human.select('Which?', names)).toEqualTypeOf<Promise<string>>()
  })
})

describe('review', () => {
  test('offers approve and reject by default', () => {
    expectTypeOf(human.review('Publish?', { title: 'x' })).toEqualTypeOf<
      Promise<Review<{ title: string }, 'approve' | 'reject'>>
    >()
  })

  test('returns the artifact with its edits', () => {
    expectTypeOf(
      human.review('Publish {title}?', 'text', {
        data: { title: 'x' },
        choices: ['approve', 'revise', { value: 'reject', effect: 'ends the run' }],
        editable: true,
        schema: z.string().min(1),
        timeout: '24h',
        onTimeout: { default: 'reject' },
      }),
    ).toEqualTypeOf<Promise<Review<string, 'approve' | 'revise' | 'reject'>>>()
  })
})

test('offers continue by default in escalate', () => {
  expectTypeOf(human.escalate('Totals differ')).toEqualTypeOf<Promise<Resolution<'continue'>>>()
  expectTypeOf(
    human.escalate('Totals differ', {
      choices: ['retry', 'abort'],
      error: new Error('x'),
      severity: 'critical',
    }),
  ).toEqualTypeOf<Promise<Resolution<'retry' | 'abort'>>>()
})

test('returns nothing from notify', () => {
  expectTypeOf(human.notify('{title} is out', { data: { title: 'x' }, to: 'group:ops' })).toEqualTypeOf<
    Promise<void>
  >()
})
