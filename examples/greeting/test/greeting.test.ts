import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeFolder, startExample } from '../../shared/test/start-example.ts'

async function setUp() {
  const folder = await makeFolder()
  const env = { PAWL_STORE: join(folder, 'greeting.db'), PAWL_QUEUES: join(folder, 'queues') }
  const inQueue = join(folder, 'queues/greeting-reviewers/approvals')
  const start = (program: string, ...args: string[]) =>
    startExample(`../src/${program}`, import.meta.url, args, env)
  const run = async (program: string, ...args: string[]) => {
    const child = await start(program, ...args)
    const { code } = await child.ended
    return { code, said: child.output() }
  }
  const list = (part: string) => readdir(join(inQueue, part)).catch(() => [])
  return { start, run, list }
}

test('a greeting that was agreed to is printed, the same however often it is asked for', async () => {
  const { run } = await setUp()
  const first = await run('main', 'Ada', '--yes')
  expect(first).toEqual({ code: 0, said: expect.stringMatching(/Ada.*\(warm\)$/) })
  expect(await run('main', 'Ada')).toEqual(first)
})

test('a greeting outlives kill -9: the reviewer decides about the text that was written before', async () => {
  const { start, run } = await setUp()
  const killed = await start('main', 'Ada')
  const text = (await killed.line(/^Waiting for a reviewer: /)).replace('Waiting for a reviewer: ', '')
  expect(await killed.kill()).toMatchObject({ signal: 'SIGKILL' })

  expect((await run('reviewer', '--choice', 'approve')).said).toContain('greet:Ada: answered')
  expect(await run('main', 'Ada')).toEqual({ code: 0, said: `${text} (warm)` })
})

test('a reviewer has it written again, and a plain one is sent when they give up', async () => {
  const { start, run } = await setUp()
  const greeting = await start('main', 'Ada')
  await greeting.line(/^Waiting for a reviewer: /)
  await run('reviewer', '--choice', 'revise', '--comment', 'short and formal please')
  await greeting.line(/^Waiting for a reviewer: (Dear Ada, we have|Good day, Ada|Ada, please be)/)
  await run('reviewer', '--choice', 'reject')
  expect(await greeting.ended).toEqual({ code: 0, signal: null })
  expect(greeting.output()).toMatch(/Hello\. \(neutral\)$/)
})

test('the host of the queue replies in a file, also while no engine works, and the greeting is printed', async () => {
  const { start, run, list } = await setUp()
  const killed = await start('main', 'Ada')
  await expect
    .poll(async () => (await list('requests')).filter((file) => file.endsWith('.json')))
    .toHaveLength(1)
  await killed.kill()
  const { said } = await run('queue-host', '--choice', 'reject', '--as', 'rita')
  expect(said).toMatch(/1 waiting .*\n.*greet:Ada: Approve this greeting\?\n.*Ada.*\n\s+Mood: warm/)
  expect(await run('main', 'Ada')).toMatchObject({
    code: 0,
    said: expect.stringMatching(/Hello\. \(neutral\)$/),
  })
})
