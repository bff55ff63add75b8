import { test } from 'vitest'
import { everyPrefix, hopsBehind, oneMoreAwait, uphold } from './support/laws.ts'

const timeout = 120_000

test('1,000 programs: taken up behind every event', { timeout }, () => uphold(everyPrefix, 1_000))

test('2,000 programs: hops behind every settlement change nothing', { timeout }, () =>
  uphold(hopsBehind, 2_000),
)

test('3,000 programs with distinct names: one more await somewhere changes nothing', { timeout }, () =>
  uphold(oneMoreAwait, 3_000),
)
