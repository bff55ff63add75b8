import { checkRuns, unusedBranches } from '@pawl/core'
import { memory, testEngine } from '@pawl/testing'
import { expect, test } from 'vitest'
import { renew as first } from '../src/code/first.ts'
import { renew as renamed } from '../src/code/renamed.ts'
import { renew as second } from '../src/code/second.ts'
import { renew as third } from '../src/code/third.ts'

test('a membership keeps what it has done over a year of deploys', async () => {
  const store = memory()
  {
    await using engine = await testEngine({ store, procedures: [first] })
    await engine.run(first, { name: 'Ada' }, { id: 'Ada' })
    await engine.advance('100d')
  }
  expect(await checkRuns({ store, procedures: [renamed] })).toMatchObject([{ verdict: 'diverges' }])
  expect(await checkRuns({ store, procedures: [second] })).toMatchObject([{ verdict: 'same' }])
  {
    await using engine = await testEngine({ store, procedures: [second] })
    await engine.run(second, { name: 'Bob' }, { id: 'Bob' })
    await engine.advance('200d')
    expect(engine.calls).toEqual({ welcome: 1, 'send a card': 1 })
  }
  const checks = await checkRuns({ store, procedures: [third] })
  expect(checks.map(({ verdict }) => verdict)).toEqual(['same', 'same'])
  expect(unusedBranches(checks)).toEqual([])
  const humans = [{ ask: 'for 110 EUR?', answer: { approved: true } }]
  await using engine = await testEngine({ store, procedures: [third], humans })
  expect(await engine.get('Ada').result()).toBe('it continues')
  expect(unusedBranches(await engine.check())).toMatchObject([{ change: 'card', branch: 1 }])
  expect(await engine.get('Bob').result()).toBe('it continues')
  expect(engine.calls).toEqual({ charge: 2 })

  const { execution_log: log } = await engine.log('Ada')
  const [asked, charged] = log.slice(-2).map(({ position }) => position) as [number, number]
  const refused = await engine.fork('Ada', { position: charged }, { edit: { [asked]: { approved: false } } })
  expect(await refused.result()).toBe('it has ended')
  expect(engine.calls).toEqual({ charge: 2 })
})
