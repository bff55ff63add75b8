import { expect, test } from 'vitest'
import { killLives } from './support/kill/life/kill-lives.ts'
import { killMoments, makePlace } from './support/kill/make-place.ts'

test.each(killMoments)(
  'generations, retries, forks, deletions and imports lose and repeat nothing, whichever write a worker is killed %s',
  async (when) => {
    const { killed, problems } = await killLives({ makePlace, when })
    expect(problems).toEqual([])
    expect(killed).toBeGreaterThan(30)
  },
)

test('control: signals without ids, sent again after a kill, are heard twice', async () => {
  const { problems } = await killLives({
    ...{ makePlace, when: 'after', env: { SIGNALS: 'nameless' } },
    at: [4, 5, 6, 7, 8, 9, 10],
  })
  expect(problems.join('\n')).toContain('what was heard is')
})
