import { createEngine, type Observer, procedure } from '@pawl/core'
import { memory } from '@pawl/testing'
import { expect, test } from 'vitest'

const nothing: Observer = {
  called: () => ({ done() {}, failed() {} }),
  attempted: () => ({ run: (body) => body(), recorded() {} }),
  created() {},
  closed() {},
  ended() {},
  committed() {},
  attached: () => () => {},
}
const child = procedure({ name: 'child' }, async () => {})
const greet = procedure({ name: 'greet' }, async (ctx) => {
  await ctx.call(child)
  await ctx.step('fails', () => Promise.reject(new Error('no'))).catch(() => {})
  await ctx.human.approve('Continue?', { key: 'continue' })
  return ctx.step('greet', () => 'hello')
})

/** Runs to the end, and returns the errors that were logged. */
async function runWith(observe: Observer): Promise<readonly string[]> {
  const errors: string[] = []
  const logger = { debug() {}, info() {}, warn() {}, error: (message: string) => void errors.push(message) }
  const engine = await createEngine({ store: memory(), procedures: [greet, child], observe, logger })
  const run = await engine.run(greet, undefined, { id: 'a' })
  await engine.inbox.next({ run: 'a' })
  await engine.inbox.answer({ run: 'a', key: 'continue' }, { approved: true }, { as: 'user:ana' })
  expect(await run.result()).toBe('hello')
  await engine.stop()
  return errors
}

const fail = (): never => {
  throw new Error('broken')
}

test.each(Object.keys(nothing) as (keyof Observer)[])(
  'an observer that throws in %s is logged once, and the run is not affected',
  async (method) => {
    const errors = await runWith({ ...nothing, [method]: fail })
    expect(errors).toEqual(['The observer threw an error, which is ignored'])
  },
)

test('an observer that throws in the methods of its reports is logged once, and each body runs once', async () => {
  const errors = await runWith({
    ...nothing,
    called: () => ({ done: fail, failed: fail }),
    attempted: () => ({
      run(body) {
        body()
        return fail()
      },
      recorded: fail,
    }),
    attached: () => fail,
  })
  expect(errors).toEqual(['The observer threw an error, which is ignored'])
})

test('a body that an observer does not call is called', async () => {
  expect(await runWith({ ...nothing, attempted: () => ({ run: fail, recorded() {} }) })).toHaveLength(1)
})

test.each([
  [{ traceparent: 'no header' }, undefined],
  [{ traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`, tracestate: 'x=1' }, 'kept'],
  [{ traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`, tracestate: `x=${'1'.repeat(512)}` }, 'cut'],
] as const)(
  'the trace context %o of a call is kept with the run if it is valid and short',
  async (trace, kept) => {
    const seen: unknown[] = []
    await runWith({
      ...nothing,
      called: () => ({ trace, done() {}, failed() {} }),
      ended: (end) => void (end.run === 'a' && seen.push(end.trace)),
    })
    const { traceparent } = trace
    expect(seen).toEqual([kept === 'kept' ? trace : kept === 'cut' ? { traceparent } : undefined])
  },
)

test('an option observe without a method is refused by name', async () => {
  const { ended: _, ...others } = nothing
  const creating = createEngine({ store: memory(), procedures: [], observe: others as Observer })
  await expect(creating).rejects.toThrow('observe.ended of createEngine')
})

/** Collects the unhandled rejections of the process while a task runs. */
async function unhandledOf(task: () => Promise<void>): Promise<readonly unknown[]> {
  const unhandled: unknown[] = []
  const note = (error: unknown): void => void unhandled.push(error)
  const others = process.listeners('unhandledRejection')
  process.removeAllListeners('unhandledRejection').on('unhandledRejection', note)
  try {
    await task()
    // Node tells of them before the next round.
    await new Promise((resolve) => setImmediate(resolve))
  } finally {
    process.off('unhandledRejection', note)
    for (const other of others) process.on('unhandledRejection', other)
  }
  return unhandled
}

const failLater = async (): Promise<never> => fail()

test('an observer whose methods are async and reject is logged once, and nothing is left unhandled', async () => {
  const methods = Object.fromEntries(Object.keys(nothing).map((method) => [method, failLater]))
  const observe = methods as unknown as Observer
  const reports = {
    ...nothing,
    called: () => ({ done: failLater, failed: failLater }),
    attempted: () => ({
      run: async (body: () => unknown) => {
        await body()
        throw new Error('broken')
      },
      recorded: failLater,
    }),
  } as unknown as Observer
  const once = ['The observer threw an error, which is ignored']
  expect(
    await unhandledOf(async () => {
      expect(await runWith(observe)).toEqual(once)
      expect(await runWith(reports)).toEqual(once)
    }),
  ).toEqual([])
})

test('a logger whose methods are async and reject leaves nothing unhandled', async () => {
  const logger = { debug: failLater, info: failLater, warn: failLater, error: failLater }
  const talks = procedure({ name: 'talks' }, async (ctx) => {
    ctx.log.info('at work')
    await ctx.step('fails', () => fail(), { retry: { attempts: 1 } })
  })
  expect(
    await unhandledOf(async () => {
      const engine = await createEngine({ store: memory(), procedures: [talks], logger })
      await expect((await engine.run(talks)).result()).rejects.toMatchObject({ code: 'run-failed' })
      await engine.stop()
    }),
  ).toEqual([])
})
