import { decider, procedure } from '@pawl/core'
import { explore, oneOf } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'

const unlessApproved = { never: [{ step: 'delete', unless: 'approved' as const }] }

describe('explore tries every outcome', () => {
  test('of an approval: yes, an accepted edit, no, and silence', async () => {
    const refund = procedure(
      { name: 'refund', input: z.object({ amount: z.number() }) },
      async (ctx, input) => {
        const approval = await ctx.human.approve('Refund {amount}?', {
          ...{ params: input, editable: ['amount'], timeout: '1h', onTimeout: 'reject' },
          schema: z.object({ amount: z.number().min(40) }),
        })
        if (approval.approved) return approval.params.amount
        return approval.timedOut ? 'silence' : 'no'
      },
    )
    const { ends, paths, leftOut } = await explore(refund, { amount: 45 })
    expect(ends).toEqual({
      'completed: 45': 1,
      'completed: 46': 1,
      'completed: no': 1,
      'completed: silence': 1,
    })
    expect({ paths, leftOut }).toEqual({ paths: 4, leftOut: 0 })
  })

  test('of inputs, selections, reviews and escalations', async () => {
    const all = procedure({ name: 'all' }, async (ctx) => {
      const size = await ctx.human.input('Size?', z.number(), { key: 'size' })
      const colour = await ctx.human.select('Colour?', ['red', 'blue'])
      const review = await ctx.human.review('Text?', { text: 'a' }, { editable: true })
      const { choice } = await ctx.human.escalate('Then?', { choices: ['go', 'stop'] })
      return [size, colour, review.choice, review.artifact.text, choice].join(' ')
    })
    const { ends } = await explore(all, undefined, { inputs: { size: [1, 2] } })
    const reviews = ['approve a', 'approve a (edited)', 'reject a']
    const expected = [1, 2].flatMap((size) =>
      ['red', 'blue'].flatMap((colour) =>
        reviews.flatMap((review) =>
          ['go', 'stop'].map((then) => `completed: ${size} ${colour} ${review} ${then}`),
        ),
      ),
    )
    expect(Object.keys(ends).sort()).toEqual(expected.sort())
  })

  test('of a decision: each choice of the agent, and its fallback', async () => {
    const judge = decider('judge', () => Promise.reject(new Error('not called')))
    const decide = (fallback: 'no' | { ask: { to: 'role:ops' } } | { fail: string }) =>
      procedure({ name: 'decide' }, async (ctx) => {
        const { choice, source } = await ctx.agent.decide('Delete?', ['yes', 'no'], {
          agent: judge,
          fallback,
        })
        return `${source} ${choice}`
      })
    expect((await explore(decide('no'), undefined)).ends).toEqual({
      ...{ 'completed: agent yes': 1, 'completed: agent no': 1, 'completed: fallback no': 1 },
    })
    expect((await explore(decide({ ask: { to: 'role:ops' } }), undefined)).ends).toEqual({
      ...{ 'completed: agent yes': 1, 'completed: agent no': 1 },
      ...{ 'completed: person yes': 1, 'completed: person no': 1 },
    })
    expect(Object.keys((await explore(decide({ fail: 'no judge' }), undefined)).ends)).toContainEqual(
      expect.stringContaining('failed:'),
    )
  })

  test('of signals, with the payloads given, and of their timeout', async () => {
    const wait = procedure(
      { name: 'wait', signals: { paid: z.object({ cents: z.number() }) } },
      async (ctx) => {
        const paid = await ctx.receive('paid', { timeout: '1d' })
        return paid === null ? 'late' : paid.cents
      },
    )
    const { ends } = await explore(wait, undefined, { signals: { paid: [{ cents: 1 }, { cents: 2 }] } })
    expect(ends).toEqual({ 'completed: 1': 1, 'completed: 2': 1, 'completed: late': 1 })
  })

  test('of a run that waits for a signal that never comes', async () => {
    const wait = procedure({ name: 'wait', signals: { paid: z.void() } }, (ctx) => ctx.receive('paid'))
    expect((await explore(wait, undefined)).ends).toEqual({ 'waits for signal "paid"': 1 })
  })

  test('of steps and agents with several outcomes or failures', async () => {
    const buy = procedure({ name: 'buy' }, async (ctx) => {
      const stock = await ctx.step('stock', () => 9)
      try {
        await ctx.step('buy', () => {})
      } catch {
        return `${stock} failed`
      }
      return stock
    })
    const { ends } = await explore(buy, undefined, { steps: { stock: oneOf(0, 3) }, failures: ['buy'] })
    expect(ends).toEqual({
      ...{ 'completed: 0': 1, 'completed: 0 failed': 1, 'completed: 3': 1, 'completed: 3 failed': 1 },
    })
  })

  test('of orders of arrival, where what is due first comes first', async () => {
    const race = procedure({ name: 'race' }, async (ctx) => {
      const order: string[] = []
      const note = (name: string) => () => order.push(name)
      await Promise.all([
        ctx.human.approve('Yes?', { timeout: '2h', onTimeout: 'reject' }).then(note('answer')),
        ctx.sleep('1h').then(note('one')),
        ctx.sleep('3h').then(note('three')),
      ])
      return order.join(' ')
    })
    // Within two hours the question is over, with or without an answer.
    expect(Object.keys((await explore(race, undefined)).ends).sort()).toEqual([
      ...['completed: answer one three', 'completed: one answer three'],
    ])
  })

  test('of a race in which a step may be too late', async () => {
    const race = procedure({ name: 'race' }, async (ctx) => {
      const { winner } = await ctx.race({ work: ctx.step('work', () => {}), late: ctx.sleep('1h') })
      return winner
    })
    expect(Object.keys((await explore(race, undefined)).ends).sort()).toEqual([
      'completed: late',
      'completed: work',
    ])
  })

  test('of a cancel at every operation, with the undos that follow', async () => {
    const order = procedure({ name: 'order' }, async (ctx) => {
      await ctx.step('hold', () => {}, { undo: () => {} })
      await ctx.step('ship', () => {})
      return 'shipped'
    })
    const { ends, paths } = await explore(order, undefined, { cancel: true })
    expect(ends).toEqual({ 'completed: shipped': 1, cancelled: 2 })
    expect(paths).toBe(3)
  })

  test('of a rejection that cancels the run', async () => {
    const ask = procedure({ name: 'ask' }, async (ctx) => {
      const { params } = await ctx.human.approve('Go?', { params: { n: 1 }, onReject: 'cancel-run' })
      return params.n
    })
    expect((await explore(ask, undefined)).ends).toEqual({ 'completed: 1': 1, cancelled: 1 })
  })
})

describe('explore leaves out', () => {
  test('outcomes that the procedure cannot tell apart', async () => {
    const seven = procedure({ name: 'seven' }, async (ctx) => {
      let yes = 0
      for (const n of [1, 2, 3, 4, 5, 6, 7]) {
        const options = { params: { n }, editable: ['n'], timeout: '1h', onTimeout: 'reject' } as const
        if ((await ctx.human.approve(`Question ${n}?`, options)).approved) yes++
      }
      return yes
    })
    // Four outcomes each: 16,384 combinations.
    expect(await explore(seven, undefined)).toMatchObject({ paths: 128, truncated: false, cut: 0 })
  })

  test('none that the procedure compares as a whole, copies, or sees by the time', async () => {
    const count = async (use: (approval: object, now: () => Date) => unknown): Promise<number> => {
      const ask = procedure({ name: 'ask' }, async (ctx) => {
        const approval = await ctx.human.approve('Yes?', { timeout: '1h', onTimeout: 'reject' })
        use(approval, () => ctx.now())
      })
      return (await explore(ask, undefined)).paths
    }
    expect(await count(() => {})).toBe(1)
    expect(await count((approval) => Object.keys(approval))).toBe(3)
    expect(await count((approval) => JSON.stringify(approval))).toBe(3)
    expect(await count((approval) => ({ ...approval }))).toBe(3)
    expect(await count((approval) => structuredClone(approval))).toBe(3)
    // Yes and no come at the same time.
    expect(await count((_, now) => now())).toBe(2)
  })

  test('no answer whose time decides which later deadline comes first', async () => {
    const twice = procedure({ name: 'twice' }, async (ctx) => {
      const order: string[] = []
      const late = ctx.sleep('2h').then(() => order.push('sleep'))
      await ctx.human.approve('One?', { timeout: '1h', onTimeout: 'reject' })
      const two = ctx.human.approve('Two?', { timeout: '90m', onTimeout: 'reject' })
      const noted = two.then((answer) =>
        order.push(!answer.approved && answer.timedOut ? 'silence' : 'answer'),
      )
      await Promise.all([late, noted])
      return order.join(' ')
    })
    // The silence of an hour at the first question moves the deadline of the second behind the sleep.
    expect(Object.keys((await explore(twice, undefined)).ends)).toEqual(
      expect.arrayContaining(['completed: silence sleep', 'completed: sleep silence']),
    )
  })

  test('paths beyond maxPaths, and what follows too many operations or a fourth question', async () => {
    const again = procedure({ name: 'again' }, async (ctx) => {
      for (;;) if (!(await ctx.human.approve('Again?')).approved) return 'done'
    })
    expect(await explore(again, undefined)).toMatchObject({
      paths: 4,
      cut: 1,
      ends: { 'completed: done': 3, cut: 1 },
    })
    expect(await explore(again, undefined, { maxPaths: 2 })).toMatchObject({ paths: 2, truncated: true })
    expect(await explore(again, undefined, { maxOps: 1 })).toMatchObject({ paths: 2, cut: 1 })
  })

  test('orders of more than three operations but the first and the last, and says so', async () => {
    const many = procedure({ name: 'many' }, (ctx) =>
      Promise.all([1, 2, 3, 4, 5].map((n) => ctx.human.approve(`Question ${n}?`))),
    )
    expect((await explore(many, undefined)).bounded).toBeGreaterThan(0)
  })
})

describe('explore finds', () => {
  test('a timeout that lets a deletion pass', async () => {
    const careless = procedure({ name: 'careless' }, async (ctx) => {
      const approval = await ctx.human.approve('Delete?', { timeout: '1h', onTimeout: 'reject' })
      if (approval.approved || approval.timedOut) await ctx.step('delete', () => {})
    })
    expect((await explore(careless, undefined, unlessApproved)).violations).toEqual([
      {
        step: 'delete',
        act: 'step',
        rule: unlessApproved.never[0],
        why: 'no person said yes',
        outcomes: ['Delete?: no answer'],
      },
    ])
  })

  test('one yes that serves two acts', async () => {
    const careless = procedure({ name: 'careless' }, async (ctx) => {
      const { approved } = await ctx.human.approve('Delete one?')
      if (approved) for (let n = 0; n < 2; n++) await ctx.step('delete', () => {})
    })
    const { violations } = await explore(careless, undefined, unlessApproved)
    expect(violations).toMatchObject([{ why: 'one yes, two acts', outcomes: ['Delete one?: yes'] }])
  })

  test('silence that counts as yes', async () => {
    const careless = procedure({ name: 'careless' }, async (ctx) => {
      const options = { timeout: '1h', onTimeout: 'approve', risk: 'low' } as const
      const { approved } = await ctx.human.approve('Delete?', options)
      if (approved) await ctx.step('delete', () => {})
    })
    const { violations } = await explore(careless, undefined, unlessApproved)
    expect(violations).toMatchObject([
      { why: 'no person answered, and silence counted as yes', outcomes: ['Delete?: no answer'] },
    ])
  })

  test('an agent that says yes', async () => {
    const careless = procedure({ name: 'careless' }, async (ctx) => {
      const { choice } = await ctx.agent.decide('Delete?', ['yes', 'no'], { fallback: 'no' })
      if (choice === 'yes') await ctx.step('delete', () => {})
    })
    const { violations } = await explore(careless, undefined, unlessApproved)
    expect(violations).toMatchObject([
      { why: 'an agent said yes, and no person', outcomes: ['Delete?: the agent says yes'] },
    ])
  })

  test('a race that a sleep wins', async () => {
    const careless = procedure({ name: 'careless' }, async (ctx) => {
      const won = await ctx.race({ asked: ctx.human.approve('Delete?'), late: ctx.sleep('1d') })
      if (won.winner === 'late' || won.value.approved) await ctx.step('delete', () => {})
    })
    const { violations } = await explore(careless, undefined, unlessApproved)
    expect(violations).toMatchObject([{ why: 'no person said yes', outcomes: ['sleep is over'] }])
  })

  test('an act beside its question', async () => {
    const careless = procedure({ name: 'careless' }, (ctx) =>
      Promise.all([ctx.human.approve('Delete?'), ctx.step('delete', () => {})]),
    )
    const { violations } = await explore(careless, undefined, unlessApproved)
    expect(violations[0]).toMatchObject({ step: 'delete', why: 'no person said yes' })
  })

  test('an act in finally after a cancel', async () => {
    const careless = procedure({ name: 'careless' }, async (ctx) => {
      try {
        await ctx.human.approve('Delete?')
      } finally {
        await ctx.shield((ctx) => ctx.step('delete', () => {}))
      }
    })
    const { violations } = await explore(careless, undefined, { ...unlessApproved, cancel: true })
    expect(violations.map(({ outcomes }) => outcomes)).toContainEqual(['the run is cancelled'])
  })

  test('no violation where a person said yes before each act', async () => {
    const careful = procedure({ name: 'careful' }, async (ctx) => {
      for (let n = 0; n < 2; n++) {
        const { approved } = await ctx.human.approve('Delete?', { timeout: '1h', onTimeout: 'reject' })
        if (approved) await ctx.step('delete', () => {})
      }
    })
    const report = await explore(careful, undefined, { ...unlessApproved, cancel: true })
    expect(report.violations).toEqual([])
    expect(report.paths).toBeGreaterThan(4)
  })

  test('a no that came after the yes', async () => {
    const careless = procedure({ name: 'careless' }, async (ctx) => {
      const first = await ctx.human.approve('Delete?')
      await ctx.human.approve('Delete?')
      if (first.approved) await ctx.step('delete', () => {})
    })
    const { violations } = await explore(careless, undefined, unlessApproved)
    expect(violations).toMatchObject([{ outcomes: ['Delete?: yes', 'Delete?: no'] }])
  })

  test('consent only in the question that the rule names', async () => {
    const careless = procedure({ name: 'careless' }, async (ctx) => {
      await ctx.human.approve('Lunch?')
      const asked = await ctx.human.approve('Delete all?', { key: 'delete' })
      if (asked.approved) await ctx.step('delete', () => {})
    })
    const rules = (ask: string | RegExp) => ({ never: [{ step: /^del/, unless: { ask } }] })
    expect((await explore(careless, undefined, rules('delete'))).violations).toEqual([])
    expect((await explore(careless, undefined, rules('Delete all'))).violations).toEqual([])
    expect((await explore(careless, undefined, rules(/^Delete/))).violations).toEqual([])
    expect((await explore(careless, undefined, rules('Lunch'))).violations).toMatchObject([
      { why: 'no person said yes', outcomes: ['Lunch?: no', 'Delete all?: yes'] },
    ])
  })

  test('a programming error, and how the run ends then', async () => {
    const broken = procedure({ name: 'broken' }, async (ctx) => {
      if (await ctx.step('find', () => true)) (undefined as unknown as { f(): void }).f()
    })
    const { ends } = await explore(broken, undefined, { steps: { find: oneOf(true, false) } })
    expect(Object.keys(ends)).toEqual([expect.stringContaining('stuck: TypeError'), 'completed: undefined'])
  })
})

describe('explore refuses', () => {
  const ask = procedure({ name: 'ask', input: z.number() }, async (ctx) => {
    await ctx.human.input('Size?', z.number())
    return ctx.step('load', () => 1)
  })

  test('an input that the procedure does not accept', async () => {
    await expect(explore(ask, 'x' as unknown as number)).rejects.toMatchObject({ code: 'input-invalid' })
  })

  test('a question for input without a value to try', async () => {
    await expect(explore(ask, 1)).rejects.toThrow(/'Size\?' has no initial value: add inputs/)
    await expect(explore(ask, 1, { inputs: { 'Size?': ['x'] } })).rejects.toThrow(/does not accept/)
  })

  test('options that it does not have, people among them', async () => {
    const given = (options: object) => explore(ask, 1, options)
    await expect(given({ humans: [] })).rejects.toThrow(/explore tries every outcome of every question/)
    await expect(given({ nevr: [] })).rejects.toThrow(/Did you mean never\?/)
    await expect(given({ never: [{ step: 'x', unless: 'approve' }] })).rejects.toThrow(/unless of never\[0\]/)
    await expect(given({ maxPaths: 0 })).rejects.toThrow(/maxPaths/)
  })

  test('with strict, a step without a double and a double without a step', async () => {
    const options = { inputs: { 'Size?': [1] }, strict: true }
    await expect(explore(ask, 1, options)).rejects.toThrow(/Step "load" has no double/)
    await expect(explore(ask, 1, { ...options, steps: { load: 1, laod: 2 } })).rejects.toThrow(
      /"laod".*never called/,
    )
  })

  test('a procedure that awaits what is not recorded', async () => {
    const foreign = procedure({ name: 'foreign' }, () => new Promise((resolve) => setTimeout(resolve, 1)))
    await expect(explore(foreign, undefined)).rejects.toMatchObject({ code: 'foreign-await' })
  })
})
