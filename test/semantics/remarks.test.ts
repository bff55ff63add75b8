import { type Ctx, createClient, procedure, ref } from '@pawl/core'
import { memory, testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { keepLines } from './support.ts'

/** The warnings of an engine that executes a procedure twice. */
async function warningsOf(
  ask: (ctx: Ctx) => Promise<unknown>,
  options: { readonly escalateTo?: 'role:manager' } = {},
): Promise<readonly string[]> {
  const asking = procedure({ name: 'asking' }, async (ctx) => {
    await ask(ctx)
  })
  const { logger, lines } = keepLines()
  await using engine = await testEngine({
    ...options,
    procedures: [asking],
    logger,
    humans: [{ ask: /./, answer: ({ kind }) => answers[kind] as { readonly approved: true } }],
  })
  for (const id of ['asking:1', 'asking:2']) await (await engine.run(asking, undefined, { id })).result()
  expect(lines.every(({ level }) => level === 'warn' || level === 'info')).toBe(true)
  return lines.filter(({ level }) => level === 'warn').map(({ message }) => message)
}
const answers = {
  ...{ approve: { approved: true }, input: { value: 'x' }, select: { choice: 'a' } },
  ...{ review: { choice: 'approve' }, escalate: { choice: 'continue' }, decide: { choice: 'a' } },
}

/** Calls as one that the types do not check. */
// biome-ignore lint/suspicious/noExplicitAny: what the compiler would refuse
const untyped = (ctx: Ctx): any => ctx.human

describe('a placeholder without a value is logged once per procedure, with the call site', () => {
  const calls: readonly [method: string, ask: (ctx: Ctx) => Promise<unknown>][] = [
    ['approve', (ctx) => untyped(ctx).approve('Refund {amount}?', { params: { id: 'A-1' } })],
    ['input', (ctx) => untyped(ctx).input('For {amount}?', z.string())],
    ['select', (ctx) => untyped(ctx).select('Where with {amount}?', ['a', 'b'], {})],
    ['review', (ctx) => untyped(ctx).review('Is {amount} fine?', 'text', { data: { total: 1 } })],
    ['escalate', (ctx) => untyped(ctx).escalate('{amount} differs')],
    ['notify', (ctx) => untyped(ctx).notify('Paid {amount} and {amount}')],
  ]

  test.each(calls)('%s', async (method, ask) => {
    const [warning, ...others] = await warningsOf(ask)
    expect(others).toEqual([])
    expect(warning).toMatch(
      new RegExp(
        `^Procedure "asking" \\(.*remarks\\.test\\.ts:\\d+:\\d+\\): the message of ${method} contains \\{amount\\} without a value, and people see the braces\\. Pass the value in \`data\`, unless the braces are intended\\.$`,
      ),
    )
  })

  test('the check of a plan, which takes the params of its task', async () => {
    const [warning] = await warningsOf((ctx) =>
      ctx.plan([{ id: 'pay', use: 'pay' }], {
        use: { pay: { run: () => {}, check: { type: 'human', message: 'Pay {amount}?' } } },
      }),
    )
    expect(warning).toMatch(/people see the braces\. Pass the value in the `params` of the task, unless/)
  })

  test('placeholders with values, JSON and empty braces are not logged', async () => {
    const warnings = await warningsOf(async (ctx) => {
      await ctx.human.approve('Refund {amount} to {who}?', {
        params: { amount: 1 },
        data: { who: '{nobody}' },
      })
      await ctx.human.approve(`Use {} with ${JSON.stringify({ a: 1 })}?`)
    })
    expect(warnings).toEqual([])
  })
})

describe("onTimeout: 'escalate'", () => {
  const timeout = '1d'

  test("onTimeout 'escalate' without a recipient is logged once per procedure and question", async () => {
    const warnings = await warningsOf(async (ctx) => {
      for (const message of ['One?', 'Two?'])
        await ctx.human.approve(message, { timeout, onTimeout: 'escalate' })
      await ctx.human.select('Three?', ['a'], { timeout, onTimeout: 'escalate' })
    })
    expect(warnings).toEqual(
      ['approve', 'select'].map((method) =>
        expect.stringMatching(
          new RegExp(
            `^Procedure "asking" \\(.*remarks\\.test\\.ts:\\d+:\\d+\\): ${method} has onTimeout: 'escalate', but neither it nor the engine names an audience: .* Set onTimeout: \\{ escalateTo: 'role:manager' \\}, or \`escalateTo\` in createEngine\\.$`,
          ),
        ),
      ),
    )
  })

  test.each<
    readonly [
      what: string,
      options: { readonly escalateTo?: 'role:manager' },
      ask: (ctx: Ctx) => Promise<unknown>,
    ]
  >([
    [
      'the engine names an audience',
      { escalateTo: 'role:manager' },
      (ctx) => ctx.human.approve('?', { timeout, onTimeout: 'escalate' }),
    ],
    [
      'it names one itself',
      {},
      (ctx) => ctx.human.approve('?', { timeout, onTimeout: { escalateTo: 'user:ana' } }),
    ],
    [
      'there is no timeout',
      {},
      (ctx) => ctx.human.approve('?', { timeout: undefined, onTimeout: 'escalate' }),
    ],
  ])('is fine where %s', async (_, options, ask) => {
    expect(await warningsOf(ask, options)).toEqual([])
  })
})

describe('onTimeout without a timeout', () => {
  test.each<readonly [of: string, ask: (ctx: Ctx) => Promise<unknown>]>([
    ['approve', (ctx) => untyped(ctx).approve('?', { onTimeout: 'reject' })],
    ['input', (ctx) => untyped(ctx).input('?', z.string(), { onTimeout: { default: 'x' } })],
    ['select', (ctx) => untyped(ctx).select('?', ['a'], { onTimeout: 'escalate' })],
    ['review', (ctx) => untyped(ctx).review('?', 'text', { onTimeout: 'keep-waiting' })],
  ])('is refused by %s', async (of, ask) => {
    const asked = procedure({ name: 'asked' }, async (ctx) => {
      try {
        await ask(ctx)
        return 'it was not refused'
      } catch (error) {
        return (error as Error).message
      }
    })
    await using engine = await testEngine({ procedures: [asked] })
    const run = await engine.run(asked)
    expect(await run.result()).toBe(
      `The option onTimeout of ${of} needs a timeout. Add a timeout, such as timeout: '1h'. Without one the ask waits forever.`,
    )
  })

  test('onTimeout with an undefined timeout waits without a limit', async () => {
    expect(
      await warningsOf((ctx) => ctx.human.approve('?', { timeout: undefined, onTimeout: 'reject' })),
    ).toEqual([])
  })
})

test('decide without an agent is refused where the engine has no decider', async () => {
  const deciding = procedure({ name: 'deciding' }, async (ctx) => {
    try {
      await ctx.agent.decide('Fine?', ['yes', 'no'], { fallback: 'no' })
      return 'it was not refused'
    } catch (error) {
      return (error as Error).message
    }
  })
  await using engine = await testEngine({ procedures: [deciding] })
  expect(await (await engine.run(deciding)).result()).toBe(
    "There is no agent of decide 'Fine?': the option `agent` is missing, and the engine has no decider. Pass `agent`, created by decider(), to `decide`, or set `decider` in createEngine.",
  )
})

describe('a signal that the procedure of a run does not declare', () => {
  const order = procedure({ name: 'order', signals: { paid: z.void(), stop: z.void() } }, async (ctx) => {
    const { name } = await ctx.receiveAny(['paid', 'stop'])
    return name
  })

  test('an undeclared signal is refused by a handle without a procedure if an engine has the code', async () => {
    const silent = procedure({ name: 'silent' }, (ctx) => ctx.sleep('1h'))
    await using engine = await testEngine({ procedures: [order, silent] })
    const run = await engine.run(order, undefined, { id: 'order:7' })
    await engine.run(silent, undefined, { id: 'silent:7' })
    for (const handle of [engine.get('order:7'), engine.get(ref<typeof order>('order'), 'order:7')])
      await expect((handle as ReturnType<typeof engine.get>).signal('payed')).rejects.toMatchObject({
        code: 'option-invalid',
        message:
          "The option name of signal cannot be 'payed'. Procedure 'order' declares paid, stop. Did you mean paid?",
      })
    await expect(engine.get('silent:7').signal('paid')).rejects.toThrow(
      "Procedure 'silent' declares no signals.",
    )
    await expect(engine.get('nothing:7').signal('paid')).rejects.toMatchObject({ code: 'run-not-found' })
    await engine.get('order:7').signal('paid')
    expect(await run.result()).toBe('paid')
    expect((await run.status()).leftOver?.signals ?? []).toEqual([])
    await expect(engine.get('order:7').signal('payed')).rejects.toMatchObject({ code: 'option-invalid' })
  })

  test('an undeclared signal is refused beside others, which arrive in order', async () => {
    const list = procedure({ name: 'list', signals: { add: z.number() } }, async (ctx) => {
      const added: number[] = []
      while (added.length < 5) added.push(await ctx.receive('add'))
      return added
    })
    await using engine = await testEngine({ procedures: [list] })
    const run = await engine.run(list, undefined, { id: 'list:1' })
    const handles = [run, engine.get('list:1')]
    const sending = [0, 1, 2, 3, 4].map((n) =>
      (handles[n % 2] as ReturnType<typeof engine.get>).signal('add', n),
    )
    await expect(engine.get('list:1').signal('ad', 7)).rejects.toMatchObject({ code: 'option-invalid' })
    await Promise.all(sending)
    expect(await run.result()).toEqual([0, 1, 2, 3, 4])
  })

  test('an undeclared signal from a client without the code is refused by what a live worker declares', async () => {
    const store = memory()
    const client = createClient({ store })
    await using engine = await testEngine({ store, procedures: [order] })
    const run = await engine.run(order, undefined, { id: 'order:7' })
    for (const _ of [1, 2])
      await expect(client.get('order:7').signal('payed')).rejects.toMatchObject({
        code: 'option-invalid',
        message: expect.stringContaining("Procedure 'order' declares paid, stop. Did you mean paid?"),
      })
    await client.get('order:7').signal('paid')
    expect(await run.result()).toBe('paid')
    await client.stop()
  })

  test('what a worker declares is read anew after a deploy', async () => {
    const store = memory()
    const client = createClient({ store })
    const later = procedure({ ...{ name: 'order', version: 2 }, signals: { refunded: z.void() } }, (ctx) =>
      ctx.receive('refunded').then(() => 'refunded'),
    )
    const before = await testEngine({ store, procedures: [order] })
    const old = await before.run(order, undefined, { id: 'order:1' })
    await expect(client.get('order:1').signal('refunded')).rejects.toMatchObject({ code: 'option-invalid' })
    await client.get('order:1').signal('stop')
    await old.result()
    await before.stop()
    await using after = await testEngine({ store, procedures: [later] })
    const run = await after.run(later, undefined, { id: 'order:2' })
    await client.get('order:2').signal('refunded')
    expect(await run.result()).toBe('refunded')
    await expect(client.get('order:2').signal('paid')).rejects.toMatchObject({ code: 'option-invalid' })
    await client.stop()
  })

  test('an undeclared signal to a run that no worker has begun is logged once per procedure and name', async () => {
    const { logger, lines } = keepLines()
    const store = memory()
    const client = createClient({ store })
    const ids = ['order:1', 'order:2']
    for (const id of ids) {
      await client.run(order, undefined, { id })
      await client.get(id).signal('payed')
      await client.get(id).signal('payed')
      await client.get(id).signal('stop')
    }
    await using engine = await testEngine({ store, procedures: [order], logger })
    for (const id of ids) expect(await engine.get(order, id).result()).toBe('stop')
    expect(lines).toEqual([
      {
        level: 'warn',
        message:
          'Run "order:1" was sent the signal "payed", which procedure "order" does not declare. It is never received. Declared: paid, stop.',
        fields: { run: 'order:1' },
      },
    ])
    await client.stop()
  })
})
