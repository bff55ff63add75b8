import { procedure } from '@pawl/core'
import type { GoldenCase, NoteBody } from './procedures.ts'

// Never change these, as those of procedures.ts: runs that are on branches of `ctx.version`, marked and unmarked.

export function makeVersionCases(noteBody: NoteBody): readonly GoldenCase[] {
  const noting = (run: string, body: string) => () => {
    noteBody(run, body)
    return body
  }

  const branching = procedure({ name: 'branching' }, async (ctx) => {
    const { runId: run } = ctx
    const branches: number[] = []
    for (const name of ['first', 'second', 'third']) {
      await ctx.step(name, noting(run, name))
      branches.push(ctx.version(`change ${name}`, 1, 2), ctx.version('change of all', 1, 4, 9))
      await ctx.step(`${name} on ${branches.join()}`, noting(run, `${name} on ${branches.join()}`))
    }
    await ctx.human.approve('Continue?')
    branches.push(ctx.version('change first', 1, 2, 3))
    await ctx.step(`last on ${branches.join()}`, noting(run, `last on ${branches.join()}`))
    return branches
  })

  const agedBefore = procedure({ name: 'aged' }, async (ctx) => {
    const { runId: run } = ctx
    await ctx.step('first', noting(run, 'first'))
    await ctx.step('old', noting(run, 'old'))
    await ctx.human.approve('Continue?')
    return ctx.step('last', noting(run, 'last'))
  })
  const aged = procedure({ name: 'aged' }, async (ctx) => {
    const { runId: run } = ctx
    await ctx.step('first', noting(run, 'first'))
    const branch = ctx.version('change', 1, 2)
    const name = branch === 1 ? 'old' : 'new'
    await ctx.step(name, noting(run, name))
    await ctx.human.approve('Continue?')
    return ctx.step('last', noting(run, 'last'))
  })

  return [
    {
      procedure: branching,
      input: undefined,
      output: [2, 9, 2, 9, 2, 9, 2],
      // Not between a result and the mark of the branch that follows from it: such a run is on the first branch.
      leftAfter: [0, 2, 3, 5, 6, 8, 9, 10, 11, 12],
    },
    // Left behind once the old code was past the change.
    { procedure: aged, before: agedBefore, input: undefined, output: 'last', leftAfter: [2, 3, 4] },
  ]
}
