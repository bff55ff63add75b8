import { type Client, FinalError, type Procedure, procedure, ref } from '@pawl/core'
import { z } from 'zod'

/** A procedure whose runs wait to be told to go on, with a log of many kinds of events. */
export interface Case {
  // biome-ignore lint/suspicious/noExplicitAny: a procedure of any types
  readonly procedure: Procedure<any, any, any>
  readonly hasEnded?: boolean
  /** The first event of the last block. Default: 0. */
  readonly lastBlock?: number
  start(client: Client, id: string): Promise<unknown>
}

const go = { go: z.string() }

/** `onEnter` is called whenever the code of a run begins to run. */
export function makeCases(onEnter: (run: string) => void): readonly Case[] {
  const short = procedure(
    { name: 'short', input: z.object({ n: z.number() }), signals: go },
    async (ctx, { n }) => {
      onEnter(ctx.runId)
      const first = await ctx.step('first', () => ({ text: 'recorded', n }))
      const failed = await ctx
        .step('failing', () => {
          throw new FinalError('no luck')
        })
        .catch((error: Error) => error.message)
      let attempts = 0
      const tried = await ctx.step(
        'tried twice',
        () => {
          if (++attempts === 1) throw new Error('not yet')
          return 'at last'
        },
        { retry: { attempts: 2, backoff: '1ms' } },
      )
      await ctx.sleep('1ms')
      return [first, failed, tried, await ctx.receive('go')]
    },
  )

  const asking = procedure({ name: 'asking', signals: go }, async (ctx) => {
    onEnter(ctx.runId)
    await ctx.human.notify('A question follows')
    const { approved, by } = await ctx.human.approve('Delete {table}?', {
      params: { table: 'users' },
      key: 'delete',
    })
    return [approved, by, await ctx.receive('go')]
  })

  const accepting = procedure(
    { name: 'accepting', input: z.object({ n: z.coerce.number() }), signals: go },
    async (ctx, { n }) => {
      onEnter(ctx.runId)
      return [n, await ctx.step('work', () => n + 1), await ctx.receive('go')]
    },
  )

  const long = procedure({ name: 'long', signals: go }, async (ctx) => {
    onEnter(ctx.runId)
    let sum = 0
    for (let index = 0; index < 130; index++) sum += await ctx.step('add', () => index)
    return [sum, await ctx.receive('go')]
  })

  const ended = procedure({ name: 'ended' }, async (ctx) => {
    onEnter(ctx.runId)
    return [await ctx.step('work', () => 'done'), await ctx.step('more', () => ({ deep: [1, 2, 3] }))]
  })

  const failed = procedure({ name: 'failed' }, async (ctx) => {
    onEnter(ctx.runId)
    await ctx.step('work', () => 'done')
    throw new Error(`no luck, after ${await ctx.step('more', () => 'all of it')}`)
  })

  const endedLong = procedure({ name: 'ended long' }, async (ctx) => {
    onEnter(ctx.runId)
    let sum = 0
    for (let index = 0; index < 130; index++) sum += await ctx.step('add', () => index)
    return sum
  })

  const start =
    (procedure: Procedure<unknown, unknown, object>, input?: unknown): Case['start'] =>
    (client, id) =>
      client.run(procedure as Procedure<unknown, unknown, object>, input, { id })

  return [
    { procedure: short, start: start(short as never, { n: 1 }) },
    {
      procedure: asking,
      async start(client, id) {
        await client.run(asking, undefined, { id })
        await client.inbox.answer({ run: id, key: 'delete' }, { approved: true }, { as: 'user:ana' })
      },
    },
    // Of a client that does not know its schema: what that makes of the input is an event.
    { procedure: accepting, start: start(ref<typeof accepting>('accepting') as never, { n: '7' }) },
    { procedure: long, start: start(long as never) },
    { procedure: ended, hasEnded: true, start: start(ended as never) },
    { procedure: failed, hasEnded: true, start: start(failed as never) },
    { procedure: endedLong, hasEnded: true, lastBlock: 128, start: start(endedLong as never) },
  ]
}
