import { createEngine, procedure } from '@pawl/core'
import { memory } from '@pawl/testing'
import { expect, onTestFinished, test, vi } from 'vitest'

test('control characters are escaped in logged and shown texts', async () => {
  const written: unknown[] = []
  for (const method of ['log', 'error'] as const)
    vi.spyOn(console, method).mockImplementation((line) => void written.push(line))
  onTestFinished(() => void vi.restoreAllMocks())
  const talking = procedure({ name: 'talking' }, async (ctx) => {
    ctx.log.info('a\u001B[2Jb')
    ctx.log.error('c\u009Bd', { text: '\u202E' })
    await ctx.human.notify('Ship {what}?', { data: { what: '\u001B]0;title\u0007\u202Ex\nnext' } })
  })
  const engine = await createEngine({ store: memory(), procedures: [talking] })
  try {
    await (await engine.run(talking)).result()
  } finally {
    await engine.stop()
  }
  expect(written).toEqual([
    expect.stringContaining('[pawl] a\\x1B[2Jb'),
    expect.stringMatching(/^\[pawl\] c\\x9Bd .*'\\u202E'/),
    expect.stringContaining('[pawl] Ship \\x1B]0;title\\x07\\u202Ex\n  next?'),
  ])
})
