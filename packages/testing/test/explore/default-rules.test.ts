import { type Ctx, decider, FinalError, procedure } from '@pawl/core'
import { type ExploreOptions, explore, oneOf } from '@pawl/testing'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { programOf, randomPrograms } from './random-programs.ts'

const signals = { packed: z.undefined(), paid: z.number() }
interface Talk {
  signals: { packed: undefined; paid: number }
}
type Body = (ctx: Ctx<Talk>) => unknown

async function find(body: Body, options: ExploreOptions = {}) {
  const explored = procedure({ name: 'p', signals }, async (ctx): Promise<void> => void (await body(ctx)))
  const { violations, ends } = await explore(explored, undefined, options)
  const found = violations.map(({ step, rule }): string => {
    if (typeof rule !== 'string') throw new Error('Not a default rule')
    return step === undefined ? rule : `${rule}: ${step}`
  })
  return { found, ends: Object.keys(ends).map((end) => end.replace(/:.*/, '')) }
}

const judge = decider('judge', () => Promise.reject(new Error('not called')))

describe('a question whose answer nothing awaits is found', () => {
  const faulty: readonly [string, Body, readonly string[], ExploreOptions?][] = [
    [
      'an approval without await before a step',
      async (ctx) => {
        ctx.human.approve('Pay?')
        await ctx.step('pay', () => {})
      },
      ['act-beside-question: pay'],
    ],
    [
      'an approval whose promise is taken apart',
      async (ctx) => {
        const { approved } = ctx.human.approve('Pay?') as unknown as { approved?: boolean }
        if (approved !== false) await ctx.step('pay', () => {})
      },
      ['act-beside-question: pay'],
    ],
    [
      'an approval whose promise is taken for a yes',
      async (ctx) => {
        const approval: unknown = ctx.human.approve('Pay?')
        if (approval) await ctx.step('pay', () => {})
      },
      ['act-beside-question: pay'],
    ],
    [
      'an approval that is answered while the procedure sleeps',
      async (ctx) => {
        ctx.human.approve('Pay?')
        await ctx.sleep('1h')
      },
      ['unread-answer'],
    ],
    [
      'a step that may fail, beside an approval',
      async (ctx) => {
        ctx.human.approve('Pay?')
        await ctx.step('pay', () => {}).catch(() => {})
      },
      ['act-beside-question: pay', 'unread-answer'],
      { failures: ['pay'] },
    ],
    [
      'a selection before a child',
      async (ctx) => {
        ctx.human.select('Which?', ['a', 'b'])
        await ctx.call(procedure({ name: 'child' }, async () => {}))
      },
      ['act-beside-question: child'],
    ],
    [
      'a decision of an agent before a step',
      async (ctx) => {
        ctx.agent.decide('Go?', ['yes', 'no'], { agent: judge, fallback: 'no' })
        await ctx.step('go', () => {})
      },
      ['act-beside-question: go'],
    ],
    [
      'one of two approvals',
      async (ctx) => {
        ctx.human.approve('First?')
        const second = await ctx.human.approve('Second?')
        if (second.approved) await ctx.step('pay', () => {})
      },
      ['act-beside-question: pay', 'unread-answer'],
    ],
    [
      'an approval in one branch of a map',
      (ctx) =>
        ctx.map([1], async (_, ctx) => {
          ctx.human.approve('Pay?')
          await ctx.step('pay', () => {})
        }),
      ['act-beside-question: pay'],
    ],
    [
      'an approval without await before a failure',
      async (ctx) => {
        ctx.human.approve('Pay?')
        await ctx.step('pay', () => {})
        throw new FinalError('after all')
      },
      ['act-beside-question: pay'],
    ],
    [
      'an approval before a step whose result is needed',
      async (ctx) => {
        ctx.human.approve('Pay?')
        const paid = await ctx.step('pay', (): { id: string } => ({ id: '' }))
        return paid.id
      },
      ['act-beside-question: pay'],
      { steps: { pay: { id: 'p-1' } } },
    ],
  ]
  test.each(faulty)('%s', async (_, body, found, options) => {
    expect((await find(body, options)).found.toSorted()).toEqual(found)
  })
})

describe('a procedure that awaits its questions breaks no default rule', () => {
  const sound: readonly [string, Body, ExploreOptions?][] = [
    [
      'at once',
      async (ctx) => {
        if ((await ctx.human.approve('Pay?')).approved) await ctx.step('pay', () => {})
      },
    ],
    [
      'without reading an answer that cancels the run at a no',
      async (ctx) => {
        await ctx.human.approve('Pay?', { onReject: 'cancel-run' })
        await ctx.step('pay', () => {})
      },
    ],
    [
      'in the body of a step',
      async (ctx) => {
        const form = await ctx.human.input('Whom?', z.object({ name: z.string() }), { initial: { name: '' } })
        await ctx.step('greet', () => form.name)
      },
    ],
    [
      'later, beside a step',
      async (ctx) => {
        const asked = ctx.human.approve('Ship?')
        await ctx.step('pack', () => {})
        if ((await asked).approved) await ctx.step('ship', () => {})
      },
    ],
    [
      'later, unless it returns before',
      async (ctx) => {
        const asked = ctx.human.approve('Ship?')
        if (!(await ctx.step('look', () => true))) return
        if ((await asked).approved) await ctx.step('ship', () => {})
      },
      { steps: { look: oneOf(true, false) } },
    ],
    [
      'later, unless a step without a double returns nothing',
      async (ctx) => {
        const asked = ctx.human.approve('Ship?')
        if (!(await ctx.step('look', () => true))) return
        if ((await asked).approved) await ctx.step('ship', () => {})
      },
    ],
    [
      'later, behind a bug of a missing double',
      async (ctx) => {
        const asked = ctx.human.approve('Ship?')
        const { size } = await ctx.step('look', () => ({ size: 1 }))
        if ((await asked).approved) await ctx.step('ship', () => size)
      },
    ],
    [
      'later, behind a signal that never comes',
      async (ctx) => {
        const asked = ctx.human.approve('Ship?')
        await ctx.step('pack', () => {})
        await ctx.receive('packed')
        if ((await asked).approved) await ctx.step('ship', () => {})
      },
    ],
    [
      'later, behind a signal that never comes, unless it returns before',
      async (ctx) => {
        const asked = ctx.human.approve('Ship?')
        if (!(await ctx.step('look', () => true))) return
        await ctx.receive('packed')
        if ((await asked).approved) await ctx.step('ship', () => {})
      },
      { steps: { look: oneOf(true, false) } },
    ],
    [
      'all at once',
      async (ctx) => {
        const [first, second] = await Promise.all([
          ctx.human.approve('First?'),
          ctx.human.approve('Second?'),
          ctx.step('prepare', () => {}),
        ])
        if (first.approved && second.approved) await ctx.step('pay', () => {})
      },
    ],
    [
      'in a plain race',
      async (ctx) => {
        const first = await Promise.race([ctx.human.approve('Pay?'), ctx.sleep('1h')])
        if (first?.approved) await ctx.step('pay', () => {})
      },
    ],
    [
      'in a race that it may lose',
      async (ctx) => {
        const { value } = await ctx.race({
          asked: (ctx) => ctx.human.approve('Pay?'),
          late: (ctx) => ctx.sleep('1h'),
        })
        await ctx.step('note', () => value)
      },
    ],
    [
      'in a race of a promise that was made before',
      async (ctx) => {
        const asked = ctx.human.approve('Pay?')
        await ctx.step('prepare', () => {})
        await ctx.race({ asked, late: ctx.sleep('1h') })
      },
    ],
    ['in a map, as its result', (ctx) => ctx.map(['a', 'b'], (one, ctx) => ctx.human.approve(`Pay ${one}?`))],
    [
      'by then and catch',
      async (ctx) => {
        ctx.human.select('Which?', ['a', 'b']).then(
          () => ctx.step('act', () => {}),
          () => {},
        )
        await ctx.step('other', () => {})
        await ctx.sleep('1h')
      },
    ],
    ['as its result', (ctx) => ctx.human.approve('Pay?')],
    [
      'in a function that runs beside it',
      async (ctx) => {
        const asking = (async () => (await ctx.human.approve('Stop?')).approved)()
        await ctx.step('work', () => {})
        return asking
      },
    ],
    ['in a shield', (ctx) => ctx.shield(async (ctx) => (await ctx.human.approve('Clean up?')).approved)],
    [
      'and escalates after a timeout',
      async (ctx) => {
        const { approved } = await ctx.human.approve('Pay?', {
          timeout: '1h',
          onTimeout: { escalateTo: 'group:boss' },
        })
        if (approved) await ctx.step('pay', () => {})
        await ctx.human.escalate('It is broken')
        await ctx.step('continue', () => {})
      },
    ],
    [
      'and notifies people without awaiting that',
      async (ctx) => {
        ctx.human.notify('It begins')
        await ctx.step('work', () => {})
      },
    ],
    [
      'and receives in parallel',
      async (ctx) => {
        const paid = ctx.receive('paid')
        const asked = ctx.human.approve('Ship?')
        await ctx.step('pack', () => {})
        await Promise.race([paid, asked])
      },
      { signals: { paid: [1] } },
    ],
    [
      'in a gate that it does not await',
      async (ctx) => {
        ctx.gate('act', {
          ...{ params: {}, facts: () => 0, run: () => {} },
          policy: () => 'human',
          human: { message: 'Act?' },
        })
        await ctx.step('other', () => {})
        await ctx.sleep('1h')
      },
    ],
  ]
  test.each(sound)('%s', async (what, body, options) => {
    const { found, ends } = await find(body, options)
    expect(found).toEqual([])
    // Behind a bug or a signal, explore does not see all.
    if (!what.startsWith('later, behind')) expect(ends).toContain('completed')
    expect((await find(body, { ...options, cancel: true })).found).toEqual([])
  })
})

test('no random program that awaits all it asks breaks a default rule', async () => {
  const explored = fc.asyncProperty(randomPrograms, fc.boolean(), async (statements, cancel) => {
    const options = { cancel, maxPaths: 300, maxOps: 40, signals: { paid: [{ n: 1 }] } }
    const { violations } = await explore(programOf(statements), undefined, options)
    expect(violations).toEqual([])
  })
  await fc.assert(explored, { numRuns: 60 })
})

describe('default rules', () => {
  const careless = procedure({ name: 'careless' }, async (ctx) => {
    ctx.human.approve('Pay?')
    await ctx.sleep('1h')
    await ctx.step('pay', () => {})
  })

  test('say what is wrong, on the shortest path', async () => {
    const { violations } = await explore(careless, undefined)
    expect(violations).toEqual([
      {
        ...{ step: 'pay', act: 'step', rule: 'act-beside-question' },
        why: 'it follows "Pay?", whose answer nothing awaits',
        outcomes: ['sleep is over'],
      },
      {
        ...{ step: undefined, rule: 'unread-answer' },
        why: '"Pay?" is answered, and nothing awaits the answer',
        outcomes: ['Pay?: yes', 'sleep is over'],
      },
    ])
  })

  test('tell a step from a child of its name', async () => {
    const leaf = procedure({ name: 'same' }, async () => 'done')
    const both = procedure({ name: 'both' }, async (ctx) => {
      ctx.human.approve('Pay?')
      await ctx.step('same', () => {})
      await ctx.spawn(leaf, undefined)
      await ctx.sleep('1h')
    })
    const { violations } = await explore(both, undefined, { ignore: ['unread-answer'] })
    expect(violations).toMatchObject([
      { step: 'same', act: 'step' },
      { step: 'same', act: 'child' },
    ])
  })

  test('can be ignored', async () => {
    const { violations } = await explore(careless, undefined, { ignore: ['unread-answer'] })
    expect(violations.map(({ rule }) => rule)).toEqual(['act-beside-question'])
    const ignore = ['unread-answer', 'act-beside-question'] as const
    expect((await explore(careless, undefined, { ignore })).violations).toEqual([])
    await expect(
      explore(careless, undefined, { ignore: ['unread' as 'unread-answer'] }),
    ).rejects.toMatchObject({
      code: 'option-invalid',
      message: expect.stringContaining('ignore[0] of explore'),
    })
  })

  test('judge nothing if not all paths were explored', async () => {
    const { violations, truncated } = await explore(careless, undefined, { maxPaths: 1 })
    expect({ violations, truncated }).toEqual({ violations: [], truncated: true })
  })

  test('add nothing to what is explored', async () => {
    const late = procedure({ name: 'late' }, async (ctx) => {
      const asked = ctx.human.approve('Ship?')
      await ctx.step('pack', () => {})
      await Promise.resolve()
      return (await asked).approved
    })
    const report = await explore(late, undefined)
    expect(report).toMatchObject({ paths: 2, ends: { 'completed: true': 1, 'completed: false': 1 } })
  })
})
