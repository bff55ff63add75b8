import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeFolder, startExample } from '../../shared/test/start-example.ts'

test('a worker killed while it waits leaves the question to the next, and refuses what is not allowed', async () => {
  const REFUND_FOLDER = await makeFolder()
  const env = { REFUND_FOLDER, PAWL_STORE: join(REFUND_FOLDER, 'elsewhere.db') }
  const run = async (program: string, ...args: string[]) => {
    const child = await startExample(`../src/${program}`, import.meta.url, args, env)
    const { code } = await child.ended
    return { code, said: child.output() }
  }
  const payments = async () =>
    (await readFile(join(REFUND_FOLDER, 'payments.jsonl'), 'utf8')).trim().split('\n')

  const first = await startExample('../src/worker', import.meta.url, [], env)
  expect((await run('start')).said).toMatch(/^started run \w+ with .*orders\.csv$/)
  const tooMuch = await run('answer', '--amount', '481')
  expect(tooMuch).toMatchObject({ code: 1, said: expect.stringContaining('params.amount: must be <= 480') })
  expect(await first.kill()).toMatchObject({ signal: 'SIGKILL' })
  expect(await payments()).toHaveLength(16)

  expect(await run('answer', '--amount', '480')).toMatchObject({ code: 0 })
  const second = await startExample('../src/worker', import.meta.url, [], env)
  await second.line(/is ready/)
  await expect.poll(payments).toHaveLength(17)
  expect(JSON.parse((await payments())[16] ?? '')).toMatchObject({ order: 'A-1011', amount: 480 })
  expect(await second.kill('SIGTERM')).toEqual({ code: 0, signal: null })
})
