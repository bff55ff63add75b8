import { expect, test } from 'vitest'
import { killConsents } from './support/kill/consent/kill-consents.ts'
import { makeSqlitePlace } from './support/kill/sqlite-place.ts'

test.each(['before', 'after'] as const)(
  'a gate and a plan act, and undo, once, whichever transaction a worker is killed %s',
  async (when) => {
    const { killed, problems } = await killConsents(makeSqlitePlace, when)
    expect(problems).toEqual([])
    expect(killed).toBeGreaterThan(20)
  },
)

test('the checker finds an action that is no step of a gate and happens again', async () => {
  const { problems } = await killConsents(makeSqlitePlace, 'after', { isCareless: true })
  expect(problems.join('\n')).toContain('step pay had several idempotency keys')
})
