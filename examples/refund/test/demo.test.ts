import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { expect, onTestFinished, test } from 'vitest'
import { makeFolder, startExample } from '../../shared/test/start-example.ts'
import type { DemoState } from '../src/browser/story.ts'

/** Many programs write colours into pipes when they find themselves in CI. */
const env = { CI: 'true', FORCE_COLOR: '1', NO_COLOR: undefined, PAWL_STORE: '' }

async function startDemo(args: readonly string[], more: { readonly [name: string]: string } = {}) {
  const demo = await startExample('../src/demo', import.meta.url, args, { ...env, ...more })
  const url = new URL((await demo.line(/Open /)).trim().split(/\s+/).at(-1) ?? '')
  const folder = (await demo.line(/written to/)).trim().split(/\s+/).at(-1) ?? ''
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return { demo, folder, url, key: url.hash.replace('#key=', '') }
}

test('the scripted demo kills two workers over HTTP, passes and leaves nothing behind', async () => {
  const { demo, folder } = await startDemo(['--yes'])
  const { code } = await demo.ended
  expect(demo.output()).not.toContain('FAILED')
  expect(code).toBe(0)
  expect(demo.output()).toContain('replayed  18 operations')
  expect(demo.output()).toContain('ran       1 step\n')
  expect(demo.output()).toContain('two workers were killed by SIGKILL')
  expect(demo.output()).toContain('17 payments, each made once')
  expect(demo.output()).toMatch(/refused .*already answered by user:(ana|bob)/)
  expect(demo.output()).not.toContain('\u001b')
  expect(existsSync(folder)).toBe(false)
})

test('the buttons of the demo need the key, JSON and the own origin, and kill a real process', async () => {
  const { demo, url, key } = await startDemo([], { TMPDIR: await makeFolder() })
  await demo.line(/worker 1, process \d+, works/)
  const call = (path: string, headers: { readonly [name: string]: string }, method = 'POST') =>
    fetch(new URL(path, url), { method, headers, ...(method === 'POST' ? { body: '{}' } : {}) })
  const login = { authorization: `Bearer ${key}` }
  const json = { 'content-type': 'application/json' }
  const stateOf = async () => (await (await call('/demo/state', login, 'GET')).json()) as DemoState

  expect((await call('/demo/state', {}, 'GET')).status).toBe(401)
  expect((await call('/demo/kill', json)).status).toBe(401)
  expect((await call('/demo/kill', { ...login, 'content-type': 'text/plain' })).status).toBe(403)
  expect((await call('/demo/kill', { ...login, ...json, origin: 'http://evil.example' })).status).toBe(403)
  const before = await stateOf()
  expect(before).toMatchObject({ worker: { number: 1, state: 'working' }, task: { number: 1, of: 4 } })
  expect(isAlive(before.worker.pid)).toBe(true)

  expect((await call('/demo/kill', { ...login, ...json, origin: url.origin })).status).toBe(204)
  expect(isAlive(before.worker.pid)).toBe(false)
  expect(demo.output()).toContain('was killed with SIGKILL')
  expect(await stateOf()).toMatchObject({ worker: { number: 1, state: 'killed' }, task: { number: 2 } })

  expect((await call('/demo/start', { ...login, ...json })).status).toBe(204)
  const after = await stateOf()
  expect(after).toMatchObject({ worker: { number: 2, state: 'working' } })
  expect(isAlive(after.worker.pid)).toBe(true)
  expect(await demo.kill('SIGINT')).toEqual({ code: 0, signal: null })
  expect(isAlive(after.worker.pid)).toBe(false)
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
