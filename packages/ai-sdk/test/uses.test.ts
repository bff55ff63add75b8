import { describe, expect, test } from 'vitest'
import { lives, play } from './support/play.ts'
import { counts, uses } from './support/uses.ts'

describe.each(Object.entries(uses))('%s', (name, use) => {
  test.each(lives)(`${name} has the same result and the same calls: %s`, async (life) => {
    Object.assign(counts, { calls: 0, executions: 0, failures: 0 })
    const humans = [{ ask: 'Run pay?', answer: { approved: true, params: { cents: 4_000 } } }] as const
    const { result, lines } = await play(use.body, life, [...humans])
    expect(result, lines.join('\n')).toEqual(use.result)
    // A crash kills the bodies beside the one whose result it follows, before theirs are recorded: they run again.
    const { calls, executions } = counts
    if (life === 'crash' && use.isConcurrent) {
      expect(calls).toBeGreaterThanOrEqual(use.calls)
      expect(executions).toBeGreaterThanOrEqual(use.executions)
    } else expect([calls, executions]).toEqual([use.calls, use.executions])
  })
})
