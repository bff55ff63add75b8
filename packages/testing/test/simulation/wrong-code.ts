import { procedure } from '@pawl/core'
import type { Tables } from '../../src/memory/tables.ts'
import type { Chance } from './chance.ts'
import type { KidRef } from './family.ts'
import { type AnyProcedure, input, makeProcedure, type Program, type Stage, signals } from './program.ts'
import { updates } from './talk.ts'

export interface WrongCodeOptions {
  readonly tables: Tables
  readonly chance: Chance
  readonly stage: Stage
  readonly kids: readonly KidRef[]
  /** It was continued. */
  readonly onKept: (run: string) => void
}

/**
 * The procedure deployed by mistake: none of its runs can continue with it, and whatever it
 * does, nothing of it may be kept. With a bug it does what is right up to there, which may be kept.
 */
export function makeWrongProcedure(program: Program, options: WrongCodeOptions): AnyProcedure {
  const { name, version } = program
  const { tables, chance, onKept } = options
  const mistake = chance.pick(['asks for something else', 'fails', 'awaits', 'has a bug'] as const)
  if (mistake === 'has a bug')
    return makeProcedure(program, breakAfter(chance.below(6), options.stage), options.kids)
  return procedure({ name, version, input, signals, updates }, async (ctx) => {
    // What it did to a generation that has done nothing yet would be right: it would be the run's own code.
    const run = tables.runs.get(ctx.runId)
    const hasBegun = run?.events.slice(run.base).some(({ position }) => position >= 0) === true
    if (hasBegun && mistake === 'fails') throw new Error('This code is wrong.')
    if (hasBegun && mistake === 'asks for something else') {
      await ctx.step('changed', () => onKept(ctx.runId))
      onKept(ctx.runId)
    }
    await new Promise(() => {})
  })
}

/** An exception escapes at the so-manieth place that an execution comes to; the program itself could catch others. */
function breakAfter(count: number, stage: Stage): Stage {
  const left = new Map<string, number>()
  return {
    beginTrace: (run) => {
      left.set(run, count)
      return stage.beginTrace(run)
    },
    onPlace: (run) => {
      const more = left.get(run) ?? 0
      left.set(run, more - 1)
      if (more !== 0) return
      process.nextTick(() => {
        throw new TypeError('This code has a bug.')
      })
    },
    onUndoable: (...step) => stage.onUndoable(...step),
    onRegistered: (...undo) => stage.onRegistered(...undo),
    perform: (...body) => stage.perform(...body),
    startChild: (...child) => stage.startChild(...child),
    tellParent: (...child) => stage.tellParent(...child),
  }
}
