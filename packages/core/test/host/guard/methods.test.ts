import crypto, {
  getRandomValues,
  randomBytes,
  randomFill,
  randomFillSync,
  randomInt,
  randomUUID,
} from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import timersModule, {
  setImmediate as importedImmediate,
  setInterval as importedInterval,
  setTimeout as importedTimeout,
} from 'node:timers'
import {
  setImmediate as promisedImmediate,
  setInterval as promisedInterval,
  setTimeout as promisedTimeout,
  scheduler,
} from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { installGuard } from '../../../src/host/guard/guard.ts'
import { turns } from '../../../src/host/turn.ts'
import { duringTurn, inTurn, ownerOf, turnTime, turnUuid } from '../turn-support.ts'

const run = ownerOf('run')
const strict = ownerOf('strict', 'error')

let uninstall: () => void
beforeEach(() => {
  uninstall = installGuard('virtual')
})
afterEach(() => uninstall())

describe('methods answered by the run', () => {
  const answers: readonly [call: string, use: string, make: () => unknown, answer: unknown][] = [
    ['Math.random()', 'ctx.random()', () => Math.random(), 0.5],
    ['performance.now()', 'ctx.now()', () => performance.now(), turnTime],
    ['randomUUID()', 'ctx.uuid()', () => crypto.randomUUID(), turnUuid],
    ['randomUUID()', 'ctx.uuid()', () => globalThis.crypto.randomUUID(), turnUuid],
    ['randomUUID()', 'ctx.uuid()', () => randomUUID(), turnUuid],
  ]

  test.each(answers)('answers %s from the run', (call, use, make, answer) => {
    expect(duringTurn(run, make)).toBe(answer)
    expect(() => duringTurn(strict, make)).toThrow(
      expect.objectContaining({ code: 'nondeterministic-call', details: { call, use } }),
    )
    const real = [make(), make(), duringTurn(ownerOf('other', 'off'), make)]
    expect(new Set(real).size).toBe(3)
    expect(real).not.toContain(answer)
  })
})

function drawLater(): Promise<string> {
  const bytes = new Uint8Array(16)
  const filled = new EventEmitter()
  randomFill(bytes, () => filled.emit('filled'))
  return once(filled, 'filled').then(() => bytes.join())
}

describe('entropy', () => {
  const sources: readonly [call: string, draw: () => unknown][] = [
    ['getRandomValues()', () => globalThis.crypto.getRandomValues(new Uint8Array(16)).join()],
    ['getRandomValues()', () => getRandomValues(new Uint8Array(16)).join()],
    ['randomBytes()', () => randomBytes(16).toString('hex')],
    ['randomFillSync()', () => randomFillSync(new Uint8Array(16)).join()],
    ['randomFill()', drawLater],
    ['randomInt()', () => randomInt(2 ** 47)],
  ]

  test.each(sources)('keeps %s real, or rejects it', async (call, draw) => {
    const drawn = await Promise.all([duringTurn(run, draw), duringTurn(run, draw), draw()])
    expect(new Set(drawn).size).toBe(3)
    expect(() => duringTurn(strict, draw)).toThrow(`A procedure called ${call}`)
  })

  test('keeps later ids unpredictable if a library fills its pool in a turn', () => {
    // As nanoid does: one draw fills a pool for many ids.
    let pool = Buffer.alloc(0)
    const nextId = () => {
      if (pool.length === 0) pool = randomFillSync(Buffer.alloc(256))
      const id = pool.subarray(0, 16).toString('hex')
      pool = pool.subarray(16)
      return id
    }
    duringTurn(run, nextId)
    const later = nextId()
    pool = Buffer.alloc(0)
    duringTurn(run, nextId)
    expect(nextId()).not.toBe(later)
  })
})

describe('timers', () => {
  const timers: readonly [api: string, set: (done: () => void) => unknown][] = [
    ['setTimeout()', (done) => setTimeout(done, 1)],
    ['setImmediate()', (done) => setImmediate(done)],
    [
      'setInterval()',
      (done) => {
        const interval = setInterval(() => {
          clearInterval(interval)
          done()
        }, 1)
      },
    ],
    ['setTimeout() of node:timers/promises', (done) => promisedTimeout(1).then(done)],
    ['setTimeout() of node:timers/promises', (done) => promisify(setTimeout)(1).then(done)],
    ['setImmediate() of node:timers/promises', (done) => promisedImmediate().then(done)],
    ['setInterval() of node:timers/promises', (done) => promisedInterval(1).next().then(done)],
    ['scheduler.wait() of node:timers/promises', (done) => scheduler.wait(1).then(done)],
    ['scheduler.yield() of node:timers/promises', (done) => scheduler.yield().then(done)],
    ['setTimeout() of node:timers', (done) => importedTimeout(done, 1)],
    ['setImmediate() of node:timers', (done) => importedImmediate(done)],
    [
      'setInterval() of node:timers',
      (done) => {
        const interval = importedInterval(() => {
          clearInterval(interval)
          done()
        }, 1)
      },
    ],
    ['AbortSignal.timeout()', (done) => AbortSignal.timeout(1).addEventListener('abort', done)],
  ]

  test.each(timers)('lets %s fire after a turn and reports it, or rejects it', async (api, set) => {
    const owner = ownerOf('run')
    const during = await new Promise(
      (resolve) => void inTurn(owner, () => void set(() => resolve(turns.current))),
    )
    expect(during).toBeNull()
    expect(owner.reported).toEqual([`timer ${api}`, `fired ${api}`])
    expect(() => duringTurn(strict, () => set(() => {}))).toThrow(`A procedure called ${api}`)
    await new Promise<void>((resolve) => void set(resolve))
    expect(owner.reported).toHaveLength(2)
  })

  test('does not report timers that are cleared or aborted, which reject as usual', async () => {
    const owner = ownerOf('run')
    const controller = new AbortController()
    const { aborted } = duringTurn(owner, () => {
      clearTimeout(setTimeout(() => {}, 1))
      const aborted = promisedTimeout(1, 'value', { signal: controller.signal })
      return { aborted }
    })
    controller.abort(new Error('no more'))
    await expect(aborted).rejects.toMatchObject({ name: 'AbortError' })
    await promisedTimeout(5)
    expect(owner.reported.filter((reported) => reported.startsWith('fired'))).toEqual([])
  })

  test('passes values, arguments, a receiver and a handle through a timer', async () => {
    const owner = ownerOf('run')
    expect(await duringTurn(owner, () => promisedTimeout(1, 'value'))).toBe('value')
    expect(await duringTurn(owner, () => promisedImmediate('now'))).toBe('now')
    expect(duringTurn(owner, () => promisedTimeout(1))).toBeInstanceOf(Promise)
    const seen = await new Promise<unknown[]>((resolve) => {
      const handle: unknown = duringTurn(owner, () =>
        setTimeout(
          function (this: unknown, ...given: readonly unknown[]) {
            resolve([this === handle, ...given])
          },
          1,
          'a',
          'b',
        ),
      )
    })
    expect(seen).toEqual([true, 'a', 'b'])
    const ticks: unknown[] = []
    for await (const tick of duringTurn(owner, () => promisedInterval(1, 'tick')))
      if (ticks.push(tick) === 3) break
    expect(ticks).toEqual(['tick', 'tick', 'tick'])
    expect(owner.reported.filter((reported) => reported.startsWith('fired setInterval'))).toHaveLength(1)
    expect(() => duringTurn(owner, () => Reflect.apply(setTimeout, null, [undefined, 1]))).toThrow(TypeError)
  })

  test('does not affect a batching logger of the application', async () => {
    const flushed = new Promise<string[]>((resolve) => {
      const lines: string[] = []
      let timer: ReturnType<typeof setTimeout> | undefined
      const log = (line: string) => {
        lines.push(line)
        clearTimeout(timer)
        timer = setTimeout(() => resolve(lines), 1)
      }
      duringTurn(run, () => log('in a turn'))
      log('outside')
    })
    expect(await flushed).toEqual(['in a turn', 'outside'])
  })

  test('does not watch ticks and microtasks', async () => {
    const seen: string[] = []
    await inTurn(strict, () => {
      process.nextTick(() => seen.push('tick'))
      queueMicrotask(() => seen.push('microtask'))
    })
    expect(seen).toEqual(['tick', 'microtask'])
    expect(strict.reported).toEqual([])
  })
})

test('rejects fetch in both modes, and sends nothing', async () => {
  const call = () => fetch('data:text/plain,hello')
  for (const owner of [run, strict])
    expect(() => duringTurn(owner, call)).toThrow('A procedure called fetch()')
  expect(await (await call()).text()).toBe('hello')
  expect(await (await duringTurn(ownerOf('other', 'off'), call)).text()).toBe('hello')
})

describe('the guard', () => {
  const guarded: readonly [holder: object, key: string][] = [
    [Object.getPrototypeOf(performance), 'now'],
    [Math, 'random'],
    [crypto, 'randomUUID'],
    [Object.getPrototypeOf(globalThis.crypto), 'randomUUID'],
    [Object.getPrototypeOf(globalThis.crypto), 'getRandomValues'],
    ...['randomBytes', 'randomFill', 'randomFillSync', 'randomInt'].map((key): [object, string] => [
      crypto,
      key,
    ]),
    ...['setTimeout', 'setInterval', 'setImmediate', 'fetch'].map((key): [object, string] => [
      globalThis,
      key,
    ]),
    ...['setTimeout', 'setInterval', 'setImmediate'].map((key): [object, string] => [timersModule, key]),
    [AbortSignal, 'timeout'],
  ]
  const describeAll = () => guarded.map(([holder, key]) => Object.getOwnPropertyDescriptor(holder, key))
  const shapeOf = (method: object) =>
    Object.entries(Object.getOwnPropertyDescriptors(method))
      .filter(([key]) => key !== 'prototype')
      .map(([key, { get, value }]) => [key, get ?? value])

  test('restores all globals', () => {
    const during = describeAll()
    uninstall()
    const native = describeAll()
    installGuard('off')()
    expect(describeAll()).toEqual(native)
    installGuard('error')()
    expect(describeAll()).toEqual(native)
    for (const [index, descriptor] of native.entries()) {
      const guardedOne = during[index]
      expect(guardedOne?.value).not.toBe(descriptor?.value)
      expect({ ...guardedOne, value: 0 }).toEqual({ ...descriptor, value: 0 })
      expect(shapeOf(guardedOne?.value)).toEqual(shapeOf(descriptor?.value))
    }
    expect(randomUUID).toBe(crypto.randomUUID)
  })

  test('keeps a method that was replaced later', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] })
    const fake = setTimeout
    uninstall()
    expect(setTimeout).toBe(fake)
    vi.useRealTimers()
    // What the fake had replaced, and now puts back, is the guard's: it does nothing without turns.
    expect(setTimeout).not.toBe(fake)
    expect(performance.now()).toBeGreaterThan(0)
  })

  test('checks the receiver as the native method does', () => {
    expect(() => Reflect.apply(performance.now, {}, [])).toThrow(TypeError)
    expect(() => Reflect.apply(globalThis.crypto.randomUUID, {}, [])).toThrow(TypeError)
  })
})
