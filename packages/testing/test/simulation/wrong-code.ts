import { procedure } from '@pawl/core'
import type { Tables } from '../../src/memory/tables.ts'
import type { Chance } from './chance.ts'
import { type AnyProcedure, input, signals } from './program.ts'

export interface WrongCodeOptions {
  readonly tables: Tables
  readonly chance: Chance
  readonly onBegin: () => void
  /** It was let go on. */
  readonly onKept: (run: string) => void
}

/**
 * The procedure as somebody has deployed it by mistake: no run that it is given can go on with it, and whatever it
 * does, nothing of it may be kept.
 */
export function makeWrongProcedure(
  { name, version }: Pick<AnyProcedure, 'name' | 'version'>,
  { tables, chance, onBegin, onKept }: WrongCodeOptions,
): AnyProcedure {
  const mistake = chance.pick(['asks for something else', 'fails', 'awaits'] as const)
  return procedure({ name, version, input, signals }, async (ctx) => {
    onBegin()
    // What it did to a run that has done nothing yet would be right: it would be the run's own code.
    const hasBegun = tables.runs.get(ctx.runId)?.events.some(({ position }) => position === 0) === true
    if (hasBegun && mistake === 'fails') throw new Error('This code is wrong.')
    if (hasBegun && mistake === 'asks for something else') {
      await ctx.step('changed', () => onKept(ctx.runId))
      onKept(ctx.runId)
    }
    await new Promise(() => {})
  })
}
