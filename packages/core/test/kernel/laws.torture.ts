import { test } from 'vitest'
import { everyPrefix, hopsBehind, oneMoreAwait, uphold } from './support/laws.ts'

test('replays 200,000 programs after a crash behind every event', () => uphold(everyPrefix, 200_000))
test('replays 500,000 programs unchanged with hops behind every settlement', () =>
  uphold(hopsBehind, 500_000))
test('replays 500,000 programs unchanged with one extra await', () => uphold(oneMoreAwait, 500_000))
