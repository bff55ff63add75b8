import { type Client, FinalError, PawlError, procedure } from '@pawl/core'
import { z } from 'zod'
import { cancelMe, type GoldenCase, type NoteBody } from './procedures.ts'

// Never change these, as those of procedures.ts: runs that create, signal, cancel and await others, that expose values, and
// that handle updates.

/** Of the ids of the children that parents name. */
const endless = 'endless child'

export function makeTogetherCases(noteBody: NoteBody): readonly GoldenCase[] {
  const noting = (run: string, body: string) => () => {
    noteBody(run, body)
    return body
  }
  const codeOf = (error: unknown): string => (PawlError.is(error) ? error.code : String(error))

  const doubling = procedure(
    { name: 'doubling child', input: z.object({ n: z.number() }), output: z.number() },
    async (ctx, { n }) => {
      await ctx.step('double', noting(ctx.runId, 'double'))
      return 2 * n
    },
  )
  const receiving = procedure({ name: 'receiving child', signals: { go: z.string() } }, async (ctx) => {
    const go = await ctx.receive('go')
    await ctx.step('receive', noting(ctx.runId, 'receive'))
    return go
  })
  const failingChild = procedure({ name: 'failing child' }, async (ctx) => {
    await ctx.step('fail', noting(ctx.runId, 'fail'))
    throw new FinalError('out of stock')
  })
  const endlessChild = procedure({ name: endless }, async (ctx) => {
    await ctx.step('begin', noting(ctx.runId, 'begin'))
    await ctx.sleep('300d')
  })
  const detachedChild = procedure({ name: 'detached child' }, (ctx) =>
    ctx.step('alone', noting(ctx.runId, 'alone')),
  )

  const parenting = procedure({ name: 'parenting' }, async (ctx) => {
    const { runId: run } = ctx
    const doubled = await ctx.call(doubling, { n: 21 })
    const handle = await ctx.spawn(receiving, undefined, { id: `${run} receiving` })
    await handle.signal('go', 'from the parent')
    const received = await handle.result()
    const failed = await ctx.call(failingChild).catch((error: unknown) => {
      if (!PawlError.is(error, 'run-failed')) throw error
      return `${error.code}: ${error.details.cause.message}`
    })
    const condemned = await ctx.spawn(endlessChild)
    await condemned.cancel('no longer needed')
    const cancelled = await condemned.result().catch(codeOf)
    const { winner } = await ctx.race({
      child: ctx.call(endlessChild),
      quick: ctx.step('quick', noting(run, 'quick')),
    })
    await ctx.spawn(detachedChild, undefined, { onParentEnd: 'detach' })
    await ctx.spawn(endlessChild, undefined, { id: `${run} left` })
    const again = await ctx.spawn(endlessChild, undefined, { id: `${run} left` })
    const missing = await ctx.get(doubling, 'none').result().catch(codeOf)
    const refused = await handle.signal('go', 'too late').catch(codeOf)
    await ctx.step('last', noting(run, 'last'))
    return {
      doubled,
      received,
      failed,
      cancelled,
      winner,
      again: again.id === `${run} left`,
      missing,
      refused,
    }
  })

  const abandoning = procedure({ name: 'abandoning' }, async (ctx) => {
    const { runId: run } = ctx
    await ctx.spawn(endlessChild, undefined, { id: `${run} spawned` })
    await ctx.step('begin', noting(run, 'begin'))
    await Promise.all([ctx.call(endlessChild), ctx.human.approve('Cancel me?', { key: cancelMe })])
  })

  const updating = procedure(
    {
      name: 'updating',
      signals: { close: z.null() },
      state: { value: z.string() },
      updates: { set: { input: z.string(), output: z.string() } },
    },
    async (ctx) => {
      const { runId: run } = ctx
      const values: string[] = []
      ctx.expose('value', 'none')
      ctx.on('set', async (value) => {
        await ctx.step(`set ${value}`, noting(run, `set ${value}`))
        if (value === 'bad') throw new Error('it is bad')
        values.push(value)
        ctx.expose('value', value)
        return `${value} is set`
      })
      await ctx.receive('close')
      await ctx.step('close', noting(run, 'close'))
      return values
    },
  )

  return [
    {
      procedure: parenting,
      input: undefined,
      output: {
        doubled: 42,
        received: 'from the parent',
        failed: 'run-failed: out of stock',
        cancelled: 'run-cancelled',
        winner: 'quick',
        again: true,
        missing: 'run-not-found',
        refused: 'run-ended',
      },
    },
    { procedure: abandoning, input: undefined, output: new Error('cancelled') },
    { procedure: updating, input: undefined, output: ['one', 'two'], afterwards: expectReplies },
    ...[doubling, receiving, failingChild, endlessChild, detachedChild].map(
      (one, i): GoldenCase => ({
        procedure: one,
        input: undefined,
        output: [42, 'from the parent', new Error('out of stock'), new Error('cancelled'), 'alone'][i],
        leftAfter: [],
      }),
    ),
  ]
}

/** Sends updates one after the other, one of them twice, and then lets the run end. Returns before that. */
export function sendUpdates(client: Client, id: string): void {
  const run = client.get(id)
  const send = (value: string): Promise<unknown> => run.update('set', value, { id: value }).catch(() => {})
  const sendAll = async (): Promise<void> => {
    for (const value of ['one', 'bad', 'one', 'two']) await send(value)
    await run.signal('close', null, { id: 'close' })
  }
  sendAll().catch(() => {})
}

/** The replies are kept for their ids. */
async function expectReplies(client: Client, id: string): Promise<readonly string[]> {
  const run = client.get(id)
  const replyTo = (value: string): Promise<unknown> =>
    run
      .update('set', value, { id: value })
      .catch((error: unknown) => (PawlError.is(error) ? error.code : error))
  const replies = [await replyTo('one'), await replyTo('bad'), await replyTo('two'), await run.state('value')]
  const expected = ['one is set', 'update-refused', 'two is set', 'two']
  return replies.flatMap((reply, i) =>
    reply === expected[i] ? [] : [`${id}: ${String(reply)}, not ${expected[i]}`],
  )
}
