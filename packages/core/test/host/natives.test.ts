import { AsyncLocalStorage } from 'node:async_hooks'
import { afterEach, expect, test, vi } from 'vitest'
import * as natives from '../../src/host/natives.ts'
import { runProgram } from './run-program.ts'

afterEach(() => void vi.useRealTimers())

test('is not affected by fake timers', async () => {
  vi.useFakeTimers({ now: 5, toFake: ['setTimeout', 'setInterval', 'setImmediate', 'Date', 'performance'] })
  expect(Date.now()).toBe(5)
  const before = natives.performanceNow()
  await new Promise<void>((resolve) => {
    const interval = natives.setIntervalNative(() => {
      natives.clearIntervalNative(interval)
      const never = natives.setTimeoutNative(() => expect.unreachable(), 0)
      natives.clearTimeoutNative(never)
      natives.setTimeoutNative(() => natives.setImmediateNative(resolve), 1)
    }, 1)
  })
  expect(natives.performanceNow()).toBeGreaterThan(before)
})

test('runs the root context without storage of the application, and everything it starts', async () => {
  const requests = new AsyncLocalStorage<string>()
  const seen = await requests.run(
    'request 1',
    () =>
      new Promise((resolve) =>
        natives.inRootContext(() => {
          const now = requests.getStore()
          natives.setImmediateNative(() => resolve([now, requests.getStore()]))
        }),
      ),
  )
  expect(seen).toEqual([undefined, undefined])
})

test('runs the root context outside any request, even if the package was loaded in one', async () => {
  const { stdout, stderr } = await runProgram('loaded-in-request')
  expect(stderr).toBe('')
  expect(JSON.parse(stdout)).toEqual([
    { request: 'alice', loaded: ['alice', 'a trace'], inRoot: [null, null], later: [null, null] },
    { request: 'bob', loaded: ['bob', 'a trace'], inRoot: [null, null], later: [null, null] },
  ])
})
