import { type Ctx, type Procedure, procedure } from '@pawl/core'
import fc from 'fast-check'
import { z } from 'zod'

type Answer = object & { readonly [member: string]: unknown }

/** What a program does with an answer. It reads nothing else of it. */
const uses = {
  'its yes': ({ approved, choice }: Answer) => approved ?? choice,
  'whether it timed out': ({ timedOut }: Answer) => timedOut,
  'its number': ({ params }: Answer) => (params as { readonly n?: number } | undefined)?.n,
  'its author': ({ by }: Answer) => by,
  'its source': ({ source }: Answer) => source,
  'its members': (answer: Answer) => Object.keys(answer).join(),
  'all of it': (answer: Answer) => JSON.stringify(answer),
  'the time': (_: Answer, ctx: Ctx) => ctx.now().toISOString(),
  nothing: () => '',
} as const

type Use = keyof typeof uses

export type Statement =
  | {
      readonly do: 'ask'
      readonly uses: readonly Use[]
      readonly timesOut: boolean
      readonly isEditable: boolean
    }
  | { readonly do: 'decide' | 'receive'; readonly uses: readonly Use[] }
  | { readonly do: 'act'; readonly name: string }
  | { readonly do: 'if' | 'both' | 'race'; readonly body: readonly Statement[] }

const someUses = fc.subarray(Object.keys(uses) as Use[], { maxLength: 2 })

/** Random programs of questions, decisions, signals, races and acts that depend on them. */
export const randomPrograms: fc.Arbitrary<readonly Statement[]> = fc.letrec<{
  statement: Statement
  body: readonly Statement[]
}>((tie) => ({
  body: fc.array(tie('statement'), { minLength: 1, maxLength: 3 }),
  statement: fc.oneof(
    { maxDepth: 2 },
    fc.record({
      do: fc.constant('ask' as const),
      ...{ uses: someUses, timesOut: fc.boolean(), isEditable: fc.boolean() },
    }),
    fc.record({ do: fc.constantFrom('decide' as const, 'receive' as const), uses: someUses }),
    fc.record({ do: fc.constant('act' as const), name: fc.constantFrom('delete', 'pay') }),
    fc.record({ do: fc.constantFrom('if' as const, 'both' as const, 'race' as const), body: tie('body') }),
  ),
})).body

/** Returns a procedure that runs the statements, and returns what it used of the answers. */
export function programOf(statements: readonly Statement[]): Procedure<undefined, string> {
  const signals = { paid: z.object({ n: z.number() }) }
  return procedure({ name: 'program', signals }, async (ctx): Promise<string> => {
    const used: unknown[] = []
    await play(ctx as unknown as Ctx, statements, used)
    return used.join(' ')
  }) as Procedure<undefined, string>
}

async function play(ctx: Ctx, statements: readonly Statement[], used: unknown[]): Promise<void> {
  for (const statement of statements) await playOne(ctx, statement, used)
}

async function playOne(ctx: Ctx, statement: Statement, used: unknown[]): Promise<void> {
  const use = (answer: unknown, given: readonly Use[]): void => {
    for (const one of given) used.push(uses[one](Object(answer) as Answer, ctx))
  }
  switch (statement.do) {
    case 'ask': {
      const timeout = statement.timesOut ? ({ timeout: '1h', onTimeout: 'reject' } as const) : {}
      const editable = statement.isEditable ? { editable: ['n'] as const } : {}
      const options = { params: { n: 4 }, ...timeout, ...editable }
      return use(await ctx.human.approve('Yes?', options), statement.uses)
    }
    case 'decide':
      return use(await ctx.agent.decide('Well?', ['yes', 'no'], { fallback: 'no' }), statement.uses)
    case 'receive':
      return use(await (ctx as CtxOfPaid).receive('paid', { timeout: '2h' }), statement.uses)
    case 'act':
      return ctx.step(statement.name, () => {})
    case 'if':
      return used.at(-1) === true || used.at(-1) === 'yes' ? play(ctx, statement.body, used) : undefined
    case 'both':
      await Promise.all([play(ctx, statement.body, used), ctx.sleep('90m')])
      return
    case 'race': {
      const { winner } = await ctx.race({
        body: (ctx) => play(ctx, statement.body, used),
        late: ctx.sleep('30m'),
      })
      used.push(winner)
    }
  }
}

type CtxOfPaid = Ctx & { receive(name: string, options: { readonly timeout: '2h' }): Promise<unknown> }
