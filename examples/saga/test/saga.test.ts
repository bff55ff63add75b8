import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { testEngine } from '@pawl/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startExample } from '../../shared/test/start-example.ts'
import { Ledger } from '../src/ledger.ts'
import { createOrder } from '../src/order.ts'

const undone = ['write to the customer', 'return the goods', 'release the money']

describe('an order, with a crash after every commit', () => {
  async function setUp() {
    const folder = mkdtempSync(join(tmpdir(), 'pawl-saga-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const ledger = new Ledger(join(folder, 'ledger.jsonl'))
    const order = createOrder({ ledger, afterUndo: async () => {} })
    const engine = await testEngine({ procedures: [order] })
    onTestFinished(() => engine.stop())
    await engine.crash('every')
    const run = await engine.run(order, { id: 'A-1', cents: 4500 })
    return { engine, run, done: () => ledger.entries().map(({ what }) => what) }
  }

  test('is undone in reverse, once, if the carrier does not come', async () => {
    const { run, done } = await setUp()
    await expect(run.result()).rejects.toMatchObject({ code: 'run-failed' })
    expect(done()).toEqual(['hold 4500 cents', 'reserve the goods', ...undone])
  })

  test('is undone in reverse, once, if it is cancelled while it waits for the carrier', async () => {
    const { engine, run, done } = await setUp()
    await engine.advance('1d')
    await run.cancel('changed my mind')
    await expect(run.result()).rejects.toMatchObject({ code: 'run-cancelled' })
    expect(done()).toEqual(['hold 4500 cents', 'reserve the goods', ...undone])
  })

  test('is shipped once the carrier has come, and nothing is undone', async () => {
    const { engine, run, done } = await setUp()
    await engine.advance('1d')
    await run.signal('collected')
    expect(await run.result()).toBe('A-1 is on its way')
    expect(done()).toEqual(['hold 4500 cents', 'reserve the goods', 'ship'])
  })
})

test('the demo passes although its worker is killed in the middle of the rollback', async () => {
  const demo = await startExample('../src/demo', import.meta.url, ['--yes'])
  const { code } = await demo.ended
  expect(demo.output()).toContain('each effect happened once')
  expect(demo.output()).not.toContain('FAILED')
  expect(code, demo.output()).toBe(0)
})
