import { FinalError, procedure } from '@pawl/core'
import { z } from 'zod'
import { cancelMe, type GoldenCase, leftOpen, type NoteBody } from './procedures.ts'

// Never change these, as those of procedures.ts: runs that are cancelled, raced, mapped, shielded and rolled back.

export function makeEndCases(noteBody: NoteBody): readonly GoldenCase[] {
  const noting = (run: string, body: string) => () => {
    noteBody(run, body)
    return body
  }
  const withUndo = (run: string, body: string) => ({
    undo: () => noteBody(run, `undo ${body}`),
  })

  const undoing = procedure({ name: 'undoing' }, async (ctx) => {
    const { runId: run } = ctx
    await ctx.step('first', noting(run, 'first'), withUndo(run, 'first'))
    ctx.onRollback('by hand', () => noteBody(run, 'undo by hand'))
    await Promise.all([
      ctx.step('second', noting(run, 'second'), withUndo(run, 'second')),
      ctx.step('third', noting(run, 'third'), withUndo(run, 'third')),
    ])
    throw new FinalError('it is over')
  })

  const rolling = procedure({ name: 'rolling' }, async (ctx) => {
    const { runId: run } = ctx
    await ctx.step('first', noting(run, 'first'), withUndo(run, 'first'))
    await ctx.step('second', noting(run, 'second'), withUndo(run, 'second'))
    await ctx.rollback('not now')
    return ctx.step('again', noting(run, 'again'), withUndo(run, 'again'))
  })

  const cancelling = procedure({ name: 'cancelling' }, async (ctx) => {
    const { runId: run } = ctx
    await ctx.map(
      ['a', 'b', 'c'],
      (name, ctx) => ctx.step(`book ${name}`, noting(run, `book ${name}`), withUndo(run, `book ${name}`)),
      { concurrency: 2 },
    )
    try {
      await Promise.all([ctx.human.approve('Cancel me?', { key: cancelMe }), ctx.sleep('300d')])
    } finally {
      await ctx.step('refused', noting(run, 'refused')).catch(() => {})
      await ctx.shield((ctx) => ctx.step('tidy', noting(run, 'tidy'), withUndo(run, 'tidy')))
    }
  })

  const forcing = procedure({ name: 'forcing', grace: '0ms' }, async (ctx) => {
    const { runId: run } = ctx
    await ctx.step('first', noting(run, 'first'), withUndo(run, 'first'))
    await ctx.human.approve('Cancel me?', { key: cancelMe }).catch(() => {})
    await ctx.shield((ctx) => ctx.sleep('300d'))
  })

  const scopes = procedure({ name: 'scopes', signals: { go: z.string() } }, async (ctx) => {
    const { runId: run } = ctx
    const tidied: string[] = []
    const signal = await ctx.race({
      go: ctx.receive('go'),
      late: async (ctx) => {
        try {
          await ctx.sleep('300d')
        } finally {
          tidied.push(await ctx.shield((ctx) => ctx.step('tidy', noting(run, 'tidy'))))
        }
      },
    })
    const quick = await ctx.race({
      step: ctx.step('quick', noting(run, 'quick')),
      asked: ctx.human.approve('Nobody waits for this', { key: leftOpen }),
    })
    const collected = await ctx.map(
      [0, 1, 2, 3, 4],
      async (n, ctx, index) => {
        if (n === 3) throw new Error(`no ${index}`)
        return ctx.step(`item ${n}`, noting(run, `item ${n}`))
      },
      { concurrency: 2, onError: 'collect' },
    )
    const stopped = await ctx
      .map([0, 1], async (n, ctx) => {
        if (n === 0) await ctx.sleep('300d')
        await ctx.step(`stop ${n}`, noting(run, `stop ${n}`))
        throw new Error('stopped')
      })
      .catch((error: Error) => error.message)
    const shielded = await ctx.shield((ctx) => ctx.step('shielded', noting(run, 'shielded')))
    const statuses = collected.map(({ status }) => status)
    return { signal, winner: quick.winner, statuses, stopped, shielded, tidied }
  })

  return [
    { procedure: undoing, input: undefined, output: new Error('it is over') },
    { procedure: rolling, input: undefined, output: 'again' },
    { procedure: cancelling, input: undefined, output: new Error('cancelled') },
    { procedure: forcing, input: undefined, output: new Error('cancelled') },
    {
      procedure: scopes,
      input: undefined,
      output: {
        signal: { winner: 'go', value: '1' },
        winner: 'step',
        statuses: ['fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
        stopped: 'stopped',
        shielded: 'shielded',
        tidied: ['tidy'],
      },
    },
  ]
}
