import { type Procedure, procedure } from '@pawl/core'

/** Asks once: its run is three events of the feed. */
export const asking: Procedure<undefined, void> = procedure({ name: 'asking' }, async (ctx) => {
  await ctx.human.approve('Continue?')
})
