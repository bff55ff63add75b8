import { test } from 'vitest'
import { checkCuts } from './support/cuts.ts'

test('a copy cut at any position replays, and begins nothing whose result it keeps', async () => {
  await checkCuts(20_000)
})
