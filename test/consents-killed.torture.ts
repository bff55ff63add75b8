import { expect, test } from 'vitest'
import { killConsents } from './support/kill/consent/kill-consents.ts'
import { killMoments, makePlace } from './support/kill/make-place.ts'

test.each(killMoments)(
  'a gate and a plan act, and undo, once, whichever write a worker is killed %s',
  async (when) => {
    const { killed, problems } = await killConsents(makePlace, when)
    expect(problems).toEqual([])
    expect(killed).toBeGreaterThan(20)
  },
)

test('the checker finds an action that is no step of a gate and happens again', async () => {
  const { problems } = await killConsents(makePlace, 'after', { isCareless: true })
  expect(problems.join('\n')).toContain('step pay had several idempotency keys')
})
