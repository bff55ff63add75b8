import { createEngine, procedure } from '@pawl/core'
import type { Store } from '@pawl/core/storage'
import { expect } from 'vitest'
import { z } from 'zod'

const child = procedure({ name: 'child', input: z.object({ n: z.number() }) }, async (_, { n }) => n)

/** Receives numbers, continues after each few of them, and hears of a child and of an answer in every generation. */
const reader = procedure(
  {
    name: 'reader',
    input: z.object({ seen: z.number(), inOrder: z.boolean(), answers: z.number(), children: z.number() }),
    signals: { n: z.number(), end: z.void() },
  },
  async (ctx, { seen, inOrder, answers, children }): Promise<readonly [number, boolean, number, number]> => {
    const kid = await ctx.spawn(child, { n: seen })
    const approval = ctx.human.approve('Go on?', { key: 'go' })
    for (let i = 0; i < 3; i++) {
      const next = await ctx.receiveAny(['n', 'end'])
      if (next.name === 'end') return [seen, inOrder, answers, children]
      inOrder &&= next.payload === seen
      seen++
    }
    const given = (await approval).approved ? 1 : 0
    const ended = (await kid.result()) === seen - 3 ? 1 : 0
    return ctx.continueAs({ seen, inOrder, answers: answers + given, children: children + ended })
  },
)

/** How many generations the signals may be ahead. */
const maxAhead = 100

/**
 * Sends signals as fast as the store takes them while the run continues again and again, answers every question, and then
 * ends or cancels the run: all of it arrives, in order.
 */
export async function playRounds(store: Store, signals: number, cancels: boolean): Promise<void> {
  const engine = await createEngine({
    ...{ store, procedures: [reader, child] },
    logger: { debug() {}, info() {}, warn() {}, error: console.error },
  })
  const id = `rounds ${signals} ${cancels}`
  const run = await engine.run(reader, { seen: 0, inOrder: true, answers: 0, children: 0 }, { id })
  const ended = run.result().catch(() => {})
  let answers = 0
  let onAnswer = (): void => {}
  const answerAll = async (): Promise<void> => {
    for (;;) {
      const ask = await engine.inbox.next({ run: id })
      await engine.inbox.answer(ask.id, { approved: true }, { as: 'user:ana' }).then(
        () => {
          answers++
          onAnswer()
        },
        () => {},
      )
    }
  }
  // Until the run has ended, or the engine has stopped.
  answerAll().catch(() => {})
  try {
    for (let n = 0; n < signals; n++) {
      await run.signal('n', n)
      // A generation takes over all unread signals: what is ahead has a bound, or the time would grow with its square.
      if (n > 3 * (answers + maxAhead))
        await Promise.race([ended, new Promise<void>((resolve) => (onAnswer = resolve))])
    }
    if (cancels) {
      await run.cancel('enough')
      await expect(run.result()).rejects.toMatchObject({ code: 'run-cancelled' })
      return
    }
    await run.signal('end')
    const rounds = Math.floor(signals / 3)
    const [seen, inOrder, given, children] = await run.result()
    expect({ seen, inOrder, given, children }).toEqual({
      seen: signals,
      inOrder: true,
      given: rounds,
      children: rounds,
    })
    expect((await run.status()).generation).toBe(rounds + 1)
    expect(answers).toBeGreaterThanOrEqual(rounds)
  } finally {
    await engine.stop()
  }
}
