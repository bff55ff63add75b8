import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { captureCallSite } from '../../src/host/call-site.ts'
import { live, type Procedure, replay, Trial } from './support/trial.ts'

test('finds the call site of a divergence with one more replay', async () => {
  const { log } = await live(async (ctx) => {
    await ctx.step('a')
    await ctx.step('b')
  })
  const changed: Procedure = async (ctx) => {
    await ctx.step('a')
    await null
    const read = () => 1
    const ask = () => ctx.issue({ kind: 'step', name: 'changed', read })
    await ask()
  }
  const { decision } = await replay(changed, log.events)
  if (decision?.state !== 'nondeterminism') throw new Error('the change is to be found')

  const sites: (string | undefined)[] = []
  const again = new Trial(changed, {
    onIssue: (position) => {
      if (position === decision.position) sites.push(captureCallSite(again.execution.issue))
    },
  })
  await again.deliver(log.events)
  const text = readFileSync(import.meta.filename, 'utf8')
  const line = 1 + text.split('\n').findIndex((line) => line.includes('ctx.issue('))
  expect(sites).toEqual([expect.stringMatching(new RegExp(`call-sites\\.test\\.ts:${line}:\\d+$`))])
})
