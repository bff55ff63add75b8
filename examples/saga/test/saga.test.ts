import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { testEngine } from '@pawl/testing'
import { expect, onTestFinished, test } from 'vitest'
import { startExample } from '../../shared/test/start-example.ts'
import { Ledger } from '../src/ledger.ts'
import { createOrder } from '../src/order.ts'

test('an order that cannot be shipped is undone in reverse, once, with a crash after every commit', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-saga-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const ledger = new Ledger(join(folder, 'ledger.jsonl'))
  const order = createOrder({ ledger, afterUndo: async () => {} })
  await using engine = await testEngine({ procedures: [order] })
  await engine.crash('every')
  const run = await engine.run(order, { id: 'A-1', cents: 4500 })
  await expect(run.result()).rejects.toMatchObject({ code: 'run-failed' })
  expect(ledger.entries().map(({ what }) => what)).toEqual([
    'hold 4500 cents',
    'reserve the goods',
    'write to the customer',
    'return the goods',
    'release the money',
  ])
})

test('the demo passes although its worker is killed in the middle of the rollback', async () => {
  const demo = await startExample('../src/demo', import.meta.url)
  const { code } = await demo.ended
  expect(demo.output()).toContain('each effect happened once')
  expect(demo.output()).not.toContain('FAILED')
  expect(code, demo.output()).toBe(0)
})
