import { agent, type Client, decider, FinalError, type Procedure, procedure } from '@pawl/core'
import { z } from 'zod'

// Never change these: the logs of released versions were made by them, and a log is only worth something
// together with the code that made it. What is new gets a procedure of its own, for the versions that follow.

/** Called by each body as it begins, with the name of its step. No two steps of one run have the same. */
export type NoteBody = (run: string, body: string) => void

/** A question nobody answers. */
export const leftOpen = 'left open'

/** A question whose run is cancelled while it is open. */
export const cancelMe = 'cancel me'

export interface GoldenCase {
  // biome-ignore lint/suspicious/noExplicitAny: each has an input and an output of its own
  readonly procedure: Procedure<any, any, any>
  /** The code with which the runs are left behind. Default: the same. */
  // biome-ignore lint/suspicious/noExplicitAny: each has an input and an output of its own
  readonly before?: Procedure<any, any, any>
  readonly input: unknown
  readonly output: unknown
  /** After how many commits runs are left behind. Default: after each. */
  readonly leftAfter?: readonly number[]
  /** What is done with the run once it has begun, in addition; resolves when its last life has begun. Default: nothing. */
  readonly onward?: (client: Client, run: string) => Promise<void>
  /** What is wrong once the run has ended. Default: nothing. */
  readonly afterwards?: (client: Client, run: string) => Promise<readonly string[]>
}

/** Every kind of value that a log can hold. */
const values = {
  nothing: [null, undefined],
  numbers: [0, -0, 1.5, 2 ** 53, -(2 ** 31), Number.MAX_VALUE, Number.NaN, Number.NEGATIVE_INFINITY],
  big: [0n, -(2n ** 63n), 2n ** 100n],
  text: ['', 'größe', '📦', 'x'.repeat(300), '\u0000'],
  bytes: new Uint8Array(300).fill(7),
  when: new Date('2026-02-28T23:59:59.999Z'),
  map: new Map<unknown, unknown>([
    ['a', 1],
    [{ of: 'object' }, new Set([1, 'b'])],
  ]),
  deep: { list: [{ of: [{ lists: [] }] }], __proto: 'a name like another' },
} as const

export function makeCases(noteBody: NoteBody): readonly GoldenCase[] {
  const writer = agent(
    { name: 'writer', input: z.string(), output: z.object({ text: z.string() }) },
    async (topic, { usage }) => {
      usage({ model: 'small', inputTokens: 10 })
      return { text: `about ${topic}` }
    },
  )
  const judge = decider('judge', async () => ({ choice: 'keep', confidence: 0.9, rationale: 'it is good' }))

  const sequence = procedure({ name: 'sequence', input: z.number() }, async (ctx, n) => {
    let sum = 0
    for (let i = 0; i < n; i++)
      sum += await ctx.step(`add ${i}`, () => {
        noteBody(ctx.runId, `add ${i}`)
        return i
      })
    return sum
  })

  const attempts = procedure({ name: 'attempts' }, async (ctx) => {
    const told: string[] = []
    await ctx
      .step(
        'fails twice',
        ({ attempt }) => {
          noteBody(ctx.runId, 'fails twice')
          if (attempt < 3) throw new RangeError(`attempt ${attempt}`)
          told.push(`done at ${attempt}`)
        },
        { retry: { attempts: 3, backoff: '1ms' } },
      )
      .then(() => told.push('went on'))
    const failure = await ctx
      .step('never', () => {
        noteBody(ctx.runId, 'never')
        throw new FinalError('no use')
      })
      .catch(
        (error: { readonly code: string; readonly cause: Error }) => `${error.code}: ${error.cause.message}`,
      )
    return [told.at(-1), failure]
  })

  const payloads = procedure({ name: 'payloads' }, async (ctx) => {
    const kept = await ctx.step('keep', () => {
      noteBody(ctx.runId, 'keep')
      return values
    })
    return ctx.step('give back', () => {
      noteBody(ctx.runId, 'give back')
      return kept
    })
  })

  const chance = procedure({ name: 'chance' }, async (ctx) => {
    const before = [ctx.random(), ctx.uuid(), ctx.random(), ctx.now().getTime()]
    const recorded = await ctx.step('remember', () => {
      noteBody(ctx.runId, 'remember')
      return before
    })
    const later = ctx.uuid()
    const again = await ctx.step('remember again', () => {
      noteBody(ctx.runId, 'remember again')
      return later
    })
    return [recorded.every((value, i) => value === before[i]), later === again]
  })

  // Awaits of every depth, so that one hop more or fewer anywhere changes who comes first.
  const hops = procedure({ name: 'hops' }, async (ctx) => {
    const order: string[] = []
    const step = async (name: string): Promise<string> => {
      const result = await ctx.step(name, () => {
        noteBody(ctx.runId, name)
        return name
      })
      order.push(name)
      return result
    }
    const twice = async (name: string): Promise<string> => (await step(`${name}1`)) + (await step(`${name}2`))
    const both = await Promise.all([
      twice('a'),
      step('b').then((b) => twice(b)),
      Promise.resolve().then(() => step('c')),
    ])
    const [settled] = await Promise.allSettled([
      Promise.any([step('d'), twice('e')]),
      Promise.reject(new Error('no')),
    ])
    for await (const name of (async function* () {
      yield step('f')
      yield twice('g')
    })())
      order.push(`took ${name}`)
    return { both, settled, order: order.length }
  })

  const races = procedure({ name: 'races', signals: { go: z.string(), stop: z.null() } }, async (ctx) => {
    const first = await Promise.race([
      ctx.receive('go').then((go) => `signal ${go}`),
      ctx.sleep('300d').then(() => 'time'),
    ])
    const approved = await Promise.race([
      ctx.human.approve('Go on?', { key: 'go on' }).then(({ approved, by }) => `${approved} by ${by}`),
      ctx.sleep('300d').then(() => 'time'),
    ])
    const left = ctx.human.approve('Nobody waits for this', { key: leftOpen })
    left.catch(() => {})
    const heard: string[] = []
    for (;;) {
      const { name, payload } = await ctx.receiveAny(['go', 'stop'])
      if (name === 'stop') break
      heard.push(String(payload))
    }
    return { first, approved, heard, late: await ctx.receive('go', { timeout: '1ms' }) }
  })

  const people = procedure({ name: 'people' }, async (ctx) => {
    const approval = await ctx.human.approve('Pay {amount}?', {
      ...{ params: { amount: 10 }, key: 'pay', to: 'group:ops', risk: 'high' },
      details: [{ title: 'Why', body: 'it is due', as: 'text' }],
    })
    const name = await ctx.human.input('Whom?', z.object({ name: z.string() }), { initial: { name: 'Ada' } })
    const way = await ctx.human.select('How?', ['card', { value: 'cash', label: 'In cash' }])
    const review = await ctx.human.review(
      'Fine?',
      { text: 'a draft' },
      { editable: true, baseline: { text: 'a' } },
    )
    const silence = await ctx.human.select('Anybody?', ['yes', 'no'], {
      timeout: '1ms',
      onTimeout: { default: 'no' },
    })
    const resolution = await ctx.human.escalate('It broke', {
      choices: ['retry', 'leave'],
      error: new Error('x'),
    })
    await ctx.human.notify('It is done', { to: 'user:ana' })
    return [approval.approved, name, way, review.choice, review.artifact, silence, resolution.choice]
  })

  const agents = procedure({ name: 'agents' }, async (ctx) => {
    const { text } = await ctx.agent(writer, 'cats')
    const { choice } = await ctx.agent.decide('Keep it?', ['keep', 'drop'], {
      ...{ agent: judge, material: text, minConfidence: 0.5, fallback: 'drop' },
    })
    return [text, choice]
  })

  // The versions that left runs of it behind let a TypeError end them.
  const failing = procedure({ name: 'failing', bugs: 'fail' }, async (ctx) => {
    await ctx.step('once', () => noteBody(ctx.runId, 'once'))
    throw Object.assign(new TypeError('it does not work'), { code: 'NO_WAY' })
  })

  return [
    // At both sides of a seal, which stands at every 64th event.
    { procedure: sequence, input: 70, output: 2_415, leftAfter: [0, 1, 62, 63, 64, 65, 71] },
    { procedure: attempts, input: undefined, output: ['went on', 'step-failed: no use'] },
    { procedure: payloads, input: undefined, output: values },
    { procedure: chance, input: undefined, output: [true, true] },
    {
      procedure: hops,
      input: undefined,
      output: {
        both: ['a1a2', 'b1b2', 'c'],
        settled: { status: 'fulfilled', value: 'd' },
        order: 14,
      },
    },
    {
      procedure: races,
      input: undefined,
      output: { first: 'signal 1', approved: 'true by user:ana', heard: ['2', '3'], late: null },
    },
    {
      procedure: people,
      input: undefined,
      output: [true, { name: 'Bob' }, 'cash', 'approve', { text: 'a better draft' }, 'no', 'retry'],
    },
    { procedure: agents, input: undefined, output: ['about cats', 'keep'] },
    { procedure: failing, input: undefined, output: new Error('it does not work') },
  ]
}
