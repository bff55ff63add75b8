import { testEngine } from '@pawl/testing'
import { expect, test } from 'vitest'
import { startExample } from '../../shared/test/start-example.ts'
import { createAlbum } from '../src/album.ts'

test('an album has each photo resized by a child, and says how far it is, with a crash after every commit', async () => {
  const keys = new Map<string, Set<string>>()
  const { thumbnail, album } = createAlbum(async (photo, key) => {
    keys.set(photo, (keys.get(photo) ?? new Set()).add(key))
    return 1
  })
  await using engine = await testEngine({ procedures: [thumbnail, album] })
  await engine.crash('every')
  const run = await engine.run(album, ['a', 'b', 'c'])
  expect(await run.result()).toEqual({ photos: 3, bytes: 3 })
  expect(await run.status()).toMatchObject({ progress: { done: 3, total: 3 } })
  expect([...keys.values()].map(({ size }) => size)).toEqual([1, 1, 1])
})

test('the demo passes although one of its workers is killed', async () => {
  const demo = await startExample('../src/demo', import.meta.url, ['--yes'])
  const { code } = await demo.ended
  expect(demo.output()).toContain('the run has the result of every photo')
  expect(demo.output()).not.toContain('FAILED')
  expect(code, demo.output()).toBe(0)
})

test('the demo opens at its run, whose page stays until the demo is stopped', async () => {
  const demo = await startExample('../src/demo', import.meta.url, [], { FAN_OUT_MS: '30' })
  const url = (await demo.line(/Watch/)).trim().split(/\s+/).at(-1) ?? ''
  expect(url).toMatch(/#key=[\w-]+&at=\/runs\/album%3A1$/)
  await demo.line(/to stop/)
  const key = /#key=([\w-]+)/.exec(url)?.[1]
  const reply = await fetch(new URL('/v1/runs/album%3A1', url), {
    headers: { authorization: `Bearer ${key}` },
  })
  expect(await reply.json()).toMatchObject({ status: 'completed' })
  expect(await demo.kill('SIGINT')).toEqual({ code: 0, signal: null })
})
