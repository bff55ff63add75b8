import { test } from 'vitest'
import { everyPrefix, hopsBehind, oneMoreAwait, uphold } from './support/laws.ts'

test('200,000 programs: taken up behind every event', () => uphold(everyPrefix, 200_000))
test('500,000 programs: hops behind every settlement change nothing', () => uphold(hopsBehind, 500_000))
test('500,000 programs: one more await somewhere changes nothing', () => uphold(oneMoreAwait, 500_000))
