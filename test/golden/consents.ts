import {
  type Actions,
  type ActionTask,
  agent,
  decider,
  type PlanEdit,
  type PlanView,
  type PolicyQuestion,
  type PolicyVerdict,
  procedure,
  type StepCall,
  type VerifyTask,
} from '@pawl/core'
import { z } from 'zod'
import type { GoldenCase, NoteBody } from './procedures.ts'

// Never change these, as those of procedures.ts: gates and plans, whose operations have an order that is part of every log.

/** Returns which reading of the facts of an action this is, in all processes together, from 1. */
export type CountReading = (run: string, action: string) => number

/** The policy of the engine. */
export function consentPolicy({ classes }: PolicyQuestion): PolicyVerdict {
  if (classes.includes('forbidden')) return 'deny'
  if (classes.includes('judged')) return 'agent'
  return classes.includes('asked') ? 'human' : 'allow'
}

/** Judges by the text of the question, which says what it is to say. */
const judge = decider('judge', async ({ question }) => {
  const choice = /say (\S+)/.exec(question)?.[1] ?? ''
  if (choice === 'nothing') throw new Error('no model')
  return { choice, confidence: 1, rationale: `it is ${choice}` }
})

interface TaskParams {
  readonly note?: string
  readonly isBroken?: boolean
}

/** Longer than the yes of some gates is valid. */
const outlast = () => new Promise((resolve) => setTimeout(resolve, 5))

export function makeConsentCases(noteBody: NoteBody, countReading: CountReading): readonly GoldenCase[] {
  const noting =
    (run: string, body: string) =>
    (params: unknown): string => {
      noteBody(run, body)
      return `${body} ${JSON.stringify(params)}`
    }

  const peopleAgree = procedure({ name: 'people agree' }, async (ctx) => {
    const { runId: run } = ctx
    const raised = await ctx.gate('raise', {
      ...{ params: { price: 5 }, classes: ['asked'], policy: () => 'allow', validFor: '30000d' },
      human: { message: 'Raise it to {price}?', editable: ['price'], to: 'group:ops', risk: 'high' },
      facts: () => ({ version: 1 }),
      run: noting(run, 'raise'),
      undo: () => noteBody(run, 'undo raise'),
    })
    const moved = await ctx.gate('move', {
      params: { to: 'B' },
      facts: () => (countReading(run, 'move') === 1 ? 'at A' : 'at C'),
      run: noting(run, 'move'),
    })
    const plain = await ctx.gate('plain', {
      ...{ params: {}, human: { key: 'my own' } },
      run: noting(run, 'plain'),
    })
    await ctx.rollback('it was a test')
    return [raised, moved, plain].map((one) => (one.done ? [one.value, one.by] : one.reason))
  })

  const together = procedure({ name: 'together' }, (ctx) =>
    Promise.all(
      ['left', 'right'].map(async (side) => {
        const gated = await ctx.gate('pay', {
          ...{ params: { side }, facts: () => 'same' },
          run: noting(ctx.runId, `pay ${side}`),
        })
        return gated.done && gated.by
      }),
    ),
  )

  const refusals = procedure({ name: 'refusals' }, async (ctx) => {
    const run = noting(ctx.runId, 'never')
    const denied = await ctx.gate('forbid', { params: {}, classes: ['forbidden'], run })
    const rejected = await ctx.gate('Refuse this', { params: {}, facts: () => 1, run })
    const late = await ctx.gate('late', { params: {}, human: { timeout: '1ms' }, run })
    const changing = await ctx.gate('change', {
      ...{ params: {}, facts: () => countReading(ctx.runId, 'change'), run },
    })
    const expired = await ctx.gate('expire', { params: {}, validFor: '1ms', facts: outlast, run })
    return [denied, rejected, late, changing, expired].map((one) => (one.done ? 'done' : one.reason))
  })

  const agentsAgree = procedure({ name: 'agents agree' }, async (ctx) => {
    const run = (name: string) => noting(ctx.runId, name)
    const options = { agent: judge, attempts: 1 } as const
    const gates = [
      await ctx.gate('allowed', { params: { n: 1 }, policy: () => 'allow', run: run('allowed') }),
      await ctx.gate('judged', {
        ...{ params: { n: 2 }, classes: ['judged'], policy: () => 'allow', facts: () => 7 },
        ...{ agent: { ...options, question: 'say approve' }, run: run('judged') },
      }),
      await ctx.gate('turned down', {
        ...{ params: {}, policy: () => 'agent', agent: { ...options, question: 'say reject' } },
        run: run('never'),
      }),
      await ctx.gate('passed on', {
        ...{ params: { n: 3 }, policy: () => 'agent', facts: () => 8 },
        ...{ agent: { ...options, question: 'say ask-human' }, run: run('passed on') },
      }),
      await ctx.gate('unclear', {
        ...{ params: { n: 4 }, policy: () => 'agent', facts: () => countReading(ctx.runId, 'unclear') > 1 },
        ...{ agent: { ...options, question: 'say nothing' }, run: run('unclear') },
      }),
      await ctx.gate('unclear and refused', {
        ...{ params: {}, policy: () => 'agent' },
        ...{ agent: { ...options, question: 'say nothing', fallback: 'reject' }, run: run('never') },
      }),
    ]
    return gates.map(({ done, by }) => [done, by])
  })

  const classes = procedure({ name: 'classes' }, async (ctx) => {
    const { runId: run } = ctx
    const step = (name: string, one: string) => ctx.step(name, noting(run, name), { classes: [one] })
    await step('routine', 'routine')
    const codeOf = (error: { readonly code?: string }) => error.code
    return [
      await step('forbidden', 'forbidden').catch(codeOf),
      await step('asked', 'asked').catch(codeOf),
      await ctx.step('after', noting(run, 'after')).then(() => 'after'),
    ]
  })

  /** The actions of the plans, whose undos are noted as well. */
  const actionsOf = (run: string) => {
    const action = (name: string) => ({
      run: ({ note = name, isBroken = false, ...params }: TaskParams, _: object, call: StepCall) => {
        noteBody(run, note)
        if (isBroken) throw new Error(`${note} is down`)
        return { note, ...params, first: call.attempt === 1 }
      },
      undo: (result: { readonly note: string }) => noteBody(run, `undo ${result.note}`),
      retry: false as const,
    })
    const check = { type: 'human', to: 'group:editors', risk: 'high' } as const
    return {
      load: action('load'),
      send: action('send'),
      post: { ...action('post'), check: { ...check, message: 'Raise {price}?', editable: ['price'] } },
      drop: { ...action('drop'), check: { ...check, message: 'Refuse this?', onReject: 'skip' } },
      wipe: { ...action('wipe'), check: { ...check, message: 'Refuse this?' } },
      judge: { ...action('judge'), check: { type: 'agent', question: 'say approve', fallback: 'reject' } },
    } as const satisfies Actions
  }
  const task = <U extends string>(
    id: string,
    use: U,
    needs: readonly string[] = [],
    more: Partial<ActionTask<U>> = {},
  ): ActionTask<U> => ({ ...{ id, use, needs, params: { note: id } }, ...more })
  const sent = [
    task('draft', 'load'),
    task('images', 'load'),
    task('post', 'post', ['draft', 'images'], { params: { note: 'post', price: 5 } }),
    task('feed', 'send', ['post']),
    task('mail', 'send', ['post']),
  ]
  const verify = (question: string, needs: readonly string[]): VerifyTask => ({
    ...{ id: 'live', verify: question, needs, fallback: 'reject' },
  })

  const planDone = procedure({ name: 'plan done' }, async (ctx) => {
    const { status, results, approvedBy } = await ctx.plan(
      [
        ...sent,
        verify('say ok', ['post', 'feed', 'mail']),
        task('tell', 'judge', ['live']),
        task('unclear', 'send', ['tell'], {
          check: { type: 'agent', question: 'say nothing?', fallback: 'human' },
        }),
      ],
      { use: actionsOf(ctx.runId), decider: judge },
    )
    return { status, results: Object.keys(results).length, approvedBy }
  })

  const planRolledBack = procedure({ name: 'plan rolled back' }, async (ctx) => {
    const { status, undone } = await ctx.plan([...sent, verify('say failed', ['post', 'feed', 'mail'])], {
      ...{ use: actionsOf(ctx.runId), decider: judge, alert: 'group:ops' },
    })
    return { status, undone: undone.toSorted() }
  })

  const planFailed = procedure({ name: 'plan failed' }, async (ctx) => {
    const tasks = [
      task('load', 'load'),
      task('send', 'send', ['load'], { params: { note: 'send', isBroken: true } }),
      task('later', 'send', ['send']),
    ]
    const options = { use: actionsOf(ctx.runId), alert: 'group:ops' } as const
    const stopped = await ctx.plan(tasks, options)
    const again = tasks.map(({ id, needs = [] }) =>
      task(
        `${id} again`,
        id === 'load' ? 'load' : 'send',
        [...needs].map((need) => `${need} again`),
        {
          params: { note: `${id} again`, isBroken: id === 'send' },
        },
      ),
    )
    return [
      stopped.status,
      stopped.undone,
      (await ctx.plan(again, { ...options, onError: 'rollback' })).undone,
    ]
  })

  const planSkipped = procedure({ name: 'plan skipped' }, async (ctx) => {
    const { status, skipped } = await ctx.plan(
      [task('load', 'load'), task('drop', 'drop', ['load']), task('behind', 'send', ['drop'])],
      { use: actionsOf(ctx.runId) },
    )
    return { status, skipped }
  })

  const planCancelled = procedure({ name: 'plan cancelled' }, (ctx) =>
    ctx.plan([task('load', 'load'), task('wipe', 'wipe', ['load'])], { use: actionsOf(ctx.runId) }),
  )

  const planRejected = procedure({ name: 'plan rejected by its agent' }, async (ctx) => {
    const check = { type: 'agent', question: 'say reject', fallback: 'reject' } as const
    const tasks = [task('load', 'load'), task('send', 'send', ['load'], { check })]
    const { status, undone } = await ctx.plan(tasks, {
      ...{ use: actionsOf(ctx.runId), decider: judge, onError: 'rollback', alert: 'group:ops' },
    })
    return { status, undone }
  })

  const reason = 'as recorded'
  const may = ['add', 'skip', 'modify', 'replan'] as const
  /** Proposes by the number of tasks that have ended, so that each process proposes the same. */
  const plannerOf = (proposals: { readonly [ended: number]: readonly PlanEdit[] }) =>
    agent(
      { name: 'planner', input: z.any(), output: z.any(), retry: false },
      async ({ results, skipped }: PlanView) => {
        const edits = proposals[Object.keys(results).length + skipped.length]
        if (edits === undefined) throw new Error('no model')
        return { edits, rationale: reason }
      },
    )

  const planEdited = procedure({ name: 'plan edited' }, async (ctx) => {
    const tasks = [
      task('a', 'load'),
      task('b', 'send', ['a']),
      task('c', 'send', ['b']),
      task('d', 'post', ['b'], { params: { note: 'd', price: 5 } }),
      task('e', 'send', ['d']),
    ]
    const planner = plannerOf({
      1: [
        { op: 'add', task: task('x', 'load', ['a']), reason },
        { op: 'skip', task: 'c', reason },
        { op: 'modify', task: 'd', params: { price: 7 }, reason },
      ],
      4: [{ op: 'replan', tasks: [task('f', 'send', ['d'])], reason }],
      5: [{ op: 'skip', task: 'd', reason }],
    })
    const { status, edits, skipped, results } = await ctx.plan(tasks, {
      ...{ use: actionsOf(ctx.runId), planner, may, replan: 'per-layer', maxReplans: 2, alert: 'group:ops' },
    })
    return { status, edits: edits.map(({ op }) => op), skipped, results: Object.keys(results) }
  })

  const planRefused = procedure({ name: 'plan refused' }, async (ctx) => {
    const tasks = [task('a', 'load'), task('b', 'post', ['a'], { params: { note: 'b', price: 5 } })]
    const planner = plannerOf({ 1: [{ op: 'skip', task: 'b', reason }] })
    const { status, edits } = await ctx.plan(tasks, {
      ...{ use: actionsOf(ctx.runId), planner, may, replan: 'per-layer' },
    })
    return { status, edits }
  })

  const planRepaired = procedure({ name: 'plan repaired' }, async (ctx) => {
    const use = actionsOf(ctx.runId)
    const planner = plannerOf({
      1: [{ op: 'replan', tasks: [task('instead', 'load', ['a'])], reason }],
    })
    const tasks = [
      task('a', 'load'),
      task('broken', 'send', ['a'], { params: { note: 'broken', isBroken: true } }),
    ]
    const options = { use, may, replan: 'on-error' } as const
    const repaired = await ctx.plan(tasks, { ...options, planner })
    const again = [
      task('g', 'load'),
      task('broken again', 'send', ['g'], { params: { note: 'broken again', isBroken: true } }),
    ]
    const stopped = await ctx.plan(again, { ...options, planner: plannerOf({}) })
    return [repaired.status, Object.keys(repaired.results), stopped.status]
  })

  return [
    {
      procedure: peopleAgree,
      input: undefined,
      output: [
        ['raise {"price":6}', 'user:ana'],
        ['move {"to":"B"}', 'user:ana'],
        ['plain {}', 'user:ana'],
      ],
    },
    { procedure: together, input: undefined, output: ['user:ana', 'user:ana'] },
    {
      procedure: refusals,
      input: undefined,
      output: ['denied', 'rejected', 'timed-out', 'changing', 'changing'],
    },
    {
      procedure: agentsAgree,
      input: undefined,
      output: [
        [true, 'policy:gate'],
        [true, 'agent:judge'],
        [false, 'agent:judge'],
        [true, 'user:ana'],
        [true, 'user:ana'],
        [false, 'policy:fallback'],
      ],
    },
    { procedure: classes, input: undefined, output: ['policy-refused', 'policy-refused', 'after'] },
    {
      procedure: planDone,
      input: undefined,
      output: {
        ...{ status: 'done', results: 8 },
        approvedBy: { post: 'user:ana', tell: 'agent:judge', unclear: 'user:ana' },
      },
    },
    {
      procedure: planRolledBack,
      input: undefined,
      output: { status: 'rolled-back', undone: ['feed', 'mail', 'post'] },
    },
    { procedure: planFailed, input: undefined, output: ['stopped', [], ['load again']] },
    { procedure: planSkipped, input: undefined, output: { status: 'done', skipped: ['drop', 'behind'] } },
    { procedure: planCancelled, input: undefined, output: new Error('cancelled') },
    { procedure: planRejected, input: undefined, output: { status: 'rolled-back', undone: ['load'] } },
    {
      procedure: planEdited,
      input: undefined,
      output: {
        ...{ status: 'done', edits: ['add', 'skip', 'modify', 'replan'] },
        ...{ skipped: ['c'], results: ['a', 'b', 'x', 'd', 'f'] },
      },
    },
    { procedure: planRefused, input: undefined, output: { status: 'stopped', edits: [] } },
    { procedure: planRepaired, input: undefined, output: ['done', ['a', 'instead'], 'stopped'] },
  ]
}
