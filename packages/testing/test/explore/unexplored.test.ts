import { procedure } from '@pawl/core'
import { explore } from '@pawl/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'

const child = procedure({ name: 'child' }, (ctx) => ctx.step('act', () => 1))
const approve = procedure({ name: 'approve' }, async (ctx) => (await ctx.human.approve('Go?')).approved)

const programs = [
  ['nothing', approve, []],
  ['random values', procedure({ name: 'p' }, async (ctx) => ctx.random() > 2), ['random']],
  ['ids', procedure({ name: 'p' }, async (ctx) => ctx.uuid()), ['random']],
  ['the time', procedure({ name: 'p' }, async (ctx) => ctx.now()), ['time']],
  ['who answered', procedure({ name: 'p' }, async (ctx) => (await ctx.human.approve('Go?')).by), ['by']],
  [
    'the comment',
    procedure({ name: 'p' }, async (ctx) => (await ctx.human.approve('Go?')).comment),
    ['comment'],
  ],
  ['older versions', procedure({ name: 'p' }, async (ctx) => ctx.version('change', 1, 2)), ['version']],
  [
    'updates',
    procedure({ name: 'p', updates: { set: { input: z.number(), output: z.void() } } }, async (ctx) => {
      ctx.on('set', () => {})
    }),
    ['updates'],
  ],
  ['generations', procedure({ name: 'p' }, async (ctx): Promise<void> => ctx.continueAs()), ['generations']],
  ['children', procedure({ name: 'p' }, (ctx) => ctx.call(child)), ['children']],
  [
    'undos of steps',
    procedure({ name: 'p' }, (ctx) => ctx.step('a', () => 1, { undo: () => {} })),
    ['undos'],
  ],
  ['undos', procedure({ name: 'p' }, async (ctx) => ctx.onRollback('a', () => {})), ['undos']],
] as const

test.each(programs)('an exploration names what it has not explored: %s', async (_what, explored, parts) => {
  const { unexplored, violations } = await explore(explored as typeof approve, undefined)
  expect(unexplored).toEqual(parts)
  expect(violations).toEqual([])
})
