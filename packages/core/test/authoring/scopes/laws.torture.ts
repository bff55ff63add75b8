import { test } from 'vitest'
import { forAllHops, forAllPrefixes } from './support/laws.ts'

test('replays 20,000 programs of nested scopes after a crash behind every event', () =>
  forAllPrefixes(20_000))
test('20,000 programs of nested scopes: hops behind settlements change nothing', () => forAllHops(20_000))
