import { expect, test } from 'vitest'
import { ThrottledLog } from '../../src/worker/throttled-log.ts'

test('logs a repeated error at once, then at growing intervals, and its recovery', () => {
  let now = 0
  const logged: [now: number, message: string][] = []
  const say = (message: string) => void logged.push([now, message])
  const logger = { debug: say, info: say, warn: say, error: say }
  const clock = { elapsed: () => now, wall: () => now, after: () => () => {} }
  const throttled = new ThrottledLog(logger, clock, 'it works again')
  throttled.settle()
  for (; now < 20_000; now += 500) throttled.add('it fails', new Error('no'))
  throttled.settle(5_000)
  now += 5_000
  throttled.settle(5_000)
  throttled.settle(5_000)
  now += 1
  throttled.add('it fails', new Error('no'))
  expect(logged).toEqual([
    [0, 'it fails'],
    [1_000, 'it fails (for 1 s now, 1 more times meanwhile)'],
    [3_000, 'it fails (for 3 s now, 3 more times meanwhile)'],
    [7_000, 'it fails (for 7 s now, 7 more times meanwhile)'],
    [15_000, 'it fails (for 15 s now, 15 more times meanwhile)'],
    [25_000, 'it works again, after 20 s'],
    [25_001, 'it fails'],
  ])
})
