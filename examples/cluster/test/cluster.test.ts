import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { connect } from 'node:net'
import pg from 'pg'
import { expect, test } from 'vitest'
import type { Child } from '../../shared/src/child.ts'
import { startExample } from '../../shared/test/start-example.ts'

/** Many programs write colours into pipes when they find themselves in CI. */
const env = { CI: 'true', FORCE_COLOR: '1', NO_COLOR: undefined, PAWL_STORE: '' }

test('the demo kills workers, passes, and says so in plain text of 80 columns', async () => {
  const demo = await startExample('../src/main', import.meta.url, ['--orders', '60', '--seconds', '3'], env)
  const { code } = await demo.ended
  const said = demo.output()
  expect(said).toMatch(/SIGKILL {3}worker \d, process \d+, with \d+ orders in its hands/)
  expect(said).toMatch(/ok {6}\d+ workers? killed by SIGKILL/)
  expect(said).toContain('ok      60 orders completed, none lost')
  expect(said).toContain('ok      60 payments, each made once')
  expect(said).not.toContain('FAILED')
  expect(said).toMatch(/Passed, in [\d.]+ s\. Nothing is left behind\.$/)
  expect(code).toBe(0)
  expect(said).not.toContain('\u001b')
  expect(said.split('\n').filter((line) => line.length > 80)).toEqual([])
})

test('the demo fails when the ledger was tampered with, and says where the database is', async () => {
  const demo = await startExample('../src/main', import.meta.url, ['--orders', '20', '--seconds', '1'], env)
  await demo.line(/started {3}worker/)
  const bank = new pg.Client(`postgres://postgres@127.0.0.1:${await portOf(demo)}/postgres`)
  await bank.connect()
  await bank.query(`insert into bank.payments values ('forged', 'order:0001', 500, 1)`)
  await bank.end()
  const { code } = await demo.ended
  const folder = /The database is in (.*)\/data$/.exec(demo.output())?.[1] ?? ''
  await rm(folder, { recursive: true })
  expect(demo.output()).toMatch(/FAILED {2}order:0001 was paid 2 times/)
  expect(code).toBe(1)
})

test('the demo leaves no process behind when it is interrupted', async () => {
  const demo = await startExample('../src/main', import.meta.url, ['--orders', '1000'], env)
  const started = await demo.line(/started {3}worker 3/)
  const port = await portOf(demo)
  expect(await demo.kill('SIGINT')).toEqual({ code: 130, signal: null })
  const pid = Number(/process (\d+)/.exec(started)?.[1])
  expect(() => process.kill(pid, 0)).toThrow('ESRCH')
  await expect(once(connect(port, '127.0.0.1'), 'connect')).rejects.toThrow('ECONNREFUSED')
})

async function portOf(demo: Child): Promise<number> {
  return Number(/port (\d+)/.exec(await demo.line(/PostgreSQL on port/))?.[1])
}
