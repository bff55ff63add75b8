import { test } from 'vitest'
import { everyPrefix, hopsBehind, oneMoreAwait, uphold } from './support/laws.ts'

test('replays 1,000 programs after a crash behind every event', () => uphold(everyPrefix, 1_000))

test('replays 2,000 programs unchanged with hops behind every settlement', () => uphold(hopsBehind, 2_000))

test('replays 3,000 programs with distinct names and one extra await', () => uphold(oneMoreAwait, 3_000))
