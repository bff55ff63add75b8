import { EventEmitter, on, once } from 'node:events'
import { callbackify, promisify } from 'node:util'
import DataLoader from 'dataloader'
import pLimit from 'p-limit'
import { z } from 'zod'
import type { Procedure } from './trial.ts'

class OwnPromise<Value> extends Promise<Value> {}

const fail = (message: string) => (): never => {
  throw new Error(message)
}

/** All the ways we know in which code waits for operations, and for nothing else. */
export const waysToAwait: { readonly [name: string]: Procedure } = {
  'any, the first fails': (ctx) => Promise.any([ctx.step('a').then(fail('x')), ctx.step('b'), ctx.step('c')]),

  'any, all fail': (ctx) => Promise.any(['a', 'b'].map((name) => ctx.step(name).then(fail(name)))),

  'all settled': async (ctx) => {
    const all = await Promise.allSettled([ctx.step('a'), ctx.step('b').then(fail('x')), ctx.step('c')])
    return all.map(({ status }) => status)
  },

  'async generators': async (ctx) => {
    async function* count(name: string) {
      try {
        for (let i = 0; i < 2; i++) yield await ctx.step(name + i)
      } finally {
        await ctx.step(`${name} ends`)
      }
    }
    const values: string[] = []
    const read = async (name: string) => {
      for await (const value of count(name)) if (values.push(value) > 2) break
    }
    await Promise.all([read('x'), read('y')])
    return values
  },

  'an async generator that is told to return': async (ctx) => {
    async function* yieldBoth(): AsyncGenerator<string, string | undefined> {
      try {
        yield* [ctx.step('a'), ctx.step('b')]
      } finally {
        await ctx.step('c')
      }
      return undefined
    }
    const generator = yieldBoth()
    return [await generator.next(), await generator.return('d')]
  },

  'for await over promises': async (ctx) => {
    const values: string[] = []
    for await (const value of ['a', 'b', 'c'].map((name) => ctx.step(name))) values.push(value)
    return values
  },

  thenables: async (ctx) => {
    const thenable = (name: string): PromiseLike<string> => ({
      then: (resolved, rejected) => ctx.step(name).then(resolved, rejected),
    })
    return [await Promise.race([thenable('a'), thenable('b')]), await thenable('c')]
  },

  'a subclass of Promise': (ctx) =>
    OwnPromise.race([
      OwnPromise.resolve(ctx.step('a')),
      new OwnPromise((resolve, reject) => void ctx.step('b').then(resolve, reject)),
    ]),

  'a deferred promise': (ctx) => {
    let resolve: (value: string) => void = () => {}
    const deferred = new Promise<string>((given) => {
      resolve = given
    })
    void ctx.step('a').then(resolve)
    return Promise.race([deferred, ctx.step('b')])
  },

  'a throw in finally': async (ctx) => {
    try {
      try {
        await ctx.step('a')
        throw new Error('first')
      } finally {
        await ctx.step('b')
        fail('second')()
      }
    } catch (error) {
      return [String(error), await ctx.step('c')]
    }
  },

  'an abort signal': async (ctx) => {
    const controller = new AbortController()
    const notes: string[] = []
    controller.signal.addEventListener('abort', () => {
      notes.push('aborted')
      void ctx.step('clean up').then(() => notes.push('cleaned up'))
    })
    const aborted = new Promise((_, reject) => {
      controller.signal.addEventListener('abort', () => reject(controller.signal.reason))
    })
    void ctx.step('stop').then(() => controller.abort(new Error('stopped')))
    try {
      await Promise.race([aborted, ctx.step('work')])
    } catch (error) {
      notes.push(String(error))
    }
    await ctx.step('end')
    return notes
  },

  'any of two abort signals': async (ctx) => {
    const [one, two] = [new AbortController(), new AbortController()]
    const notes: string[] = []
    const signal = AbortSignal.any([one.signal, two.signal])
    signal.onabort = () => notes.push(signal.reason)
    void ctx.step('a').then(() => one.abort('one'))
    void ctx.step('b').then(() => two.abort('two'))
    await Promise.all([ctx.step('c'), ctx.step('d')])
    return notes
  },

  'an event target': async (ctx) => {
    const target = new EventTarget()
    const notes: string[] = []
    const listen = async () => notes.push(await ctx.step('in the listener'))
    target.addEventListener('event', () => void listen())
    await ctx.step('a')
    target.dispatchEvent(new Event('event'))
    await ctx.step('b')
    return notes
  },

  'once of an emitter': async (ctx) => {
    const emitter = new EventEmitter()
    const emitted = once(emitter, 'event')
    void ctx.step('a').then((value) => emitter.emit('event', value))
    return [await Promise.race([emitted, ctx.step('b')]), await ctx.step('c')]
  },

  'on of an emitter': async (ctx) => {
    const emitter = new EventEmitter()
    const controller = new AbortController()
    const notes: string[] = []
    const listen = async () => {
      try {
        for await (const [value] of on(emitter, 'event', { signal: controller.signal }))
          notes.push(value, await ctx.step(`heard ${value}`))
      } catch (error) {
        notes.push((error as Error).name)
      }
    }
    const listening = listen()
    for (const name of ['a', 'b']) emitter.emit('event', await ctx.step(name))
    await ctx.step('c')
    controller.abort()
    await listening
    return notes
  },

  'an unawaited operation': (ctx) => {
    void ctx.step('lost')
    return ctx.step('a')
  },

  'an asynchronous schema': (ctx) => {
    const schema = z.object({
      a: z.string().refine(async (text) => {
        await null
        return text.length > 0
      }),
      b: z.string().transform(async (text) => text + (await ctx.step('in the schema'))),
    })
    return Promise.all([schema.parseAsync({ a: 'x', b: 'y' }), ctx.step('b')])
  },

  'microtasks and ticks': async (ctx) => {
    const notes: string[] = []
    const queue = async (name: string) => {
      await ctx.step(name)
      await new Promise<void>((resolve) => queueMicrotask(resolve))
      notes.push(name)
      await new Promise<void>((resolve) => process.nextTick(resolve))
      await ctx.step(`${name} again`)
    }
    await Promise.all(['a', 'b'].map(queue))
    return notes
  },

  'a structured clone': async (ctx) =>
    structuredClone({ a: await ctx.step('a'), b: [await ctx.step('b'), new Map([[1, 2]]).size] }),

  callbacks: (ctx) => {
    const call = promisify(callbackify((name: string) => ctx.step(name)))
    return Promise.race([call('a'), call('b')])
  },

  'a limiter of its own': (ctx) => {
    const limit = pLimit(2)
    return Promise.all(['a', 'b', 'c', 'd'].map((name) => limit(() => ctx.step(name))))
  },

  'a data loader': (ctx) => {
    const loader = new DataLoader(async (keys: readonly string[]) => {
      const value = await ctx.step(`load ${keys.join()}`)
      return keys.map((key) => value + key)
    })
    const load = async (name: string) => {
      await ctx.step(name)
      return loader.load(name)
    }
    return Promise.all([load('a'), load('b')])
  },

  'async disposal': async (ctx) => {
    const notes: string[] = []
    const resource = { [Symbol.asyncDispose]: async () => notes.push(await ctx.step('dispose')) }
    try {
      await ctx.step('a')
    } finally {
      await resource[Symbol.asyncDispose]()
    }
    return notes
  },

  'a hundred thousand hops': async (ctx) => {
    await ctx.step('a')
    for (let i = 0; i < 100_000; i++) await null
    return ctx.step('b')
  },
}
