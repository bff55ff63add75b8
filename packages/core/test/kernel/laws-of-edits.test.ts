import { test } from 'vitest'
import { everyPrefix, hopsBehind, oneMoreAwait, uphold } from './support/laws.ts'

test('replays 500 programs after a crash behind every event', () => uphold(everyPrefix, 500))

test('replays 1,000 programs unchanged with hops behind every settlement', () => uphold(hopsBehind, 1_000))

test('replays 1,500 programs with distinct names and one extra await', () => uphold(oneMoreAwait, 1_500))
