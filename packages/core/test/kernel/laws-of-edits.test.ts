import { test } from 'vitest'
import { everyPrefix, hopsBehind, oneMoreAwait, uphold } from './support/laws.ts'

test('1,000 programs: taken up behind every event', () => uphold(everyPrefix, 1_000))

test('2,000 programs: hops behind every settlement change nothing', () => uphold(hopsBehind, 2_000))

test('3,000 programs with distinct names: one more await somewhere changes nothing', () =>
  uphold(oneMoreAwait, 3_000))
