import { createRequire } from 'node:module'
import { runInThisContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { inEveryOrder } from './support/everywhere.ts'
import { type Procedure, replay } from './support/trial.ts'

/** Hops of all sorts, which a compiler for an older language counts differently. */
const source = `
exports.hops = async (ctx) => {
  const one = async (name, hops) => {
    for (let i = 0; i < hops; i++) await null
    return ctx.step(name)
  }
  const nested = async (name) => {
    const value = await one(name, 1)
    return value
  }
  const passed = async (name) => one(name, 0)
  const second = async () => {
    await (async () => Promise.resolve(1))()
    return ctx.step('d')
  }
  return Promise.all([nested('a'), one('b', 2), passed('c'), second()])
}
exports.generators = async (ctx) => {
  async function* count(name) {
    for (let i = 0; i < 2; i++) {
      yield i
      await ctx.step(name + i)
    }
  }
  const read = async (name) => {
    for await (const _ of count(name)) await null
    return ctx.step(name + ' end')
  }
  const late = async (name, hops) => {
    for (let i = 0; i < hops; i++) await null
    return ctx.step(name)
  }
  return Promise.all([read('x'), late('y', 3)])
}
exports.late = async (ctx) => {
  const wrap = async (name) => {
    const value = await ctx.step(name)
    return value
  }
  const [p, q, r] = [wrap('p'), ctx.step('q'), (async () => wrap('r'))()]
  await Promise.all([p, q, r])
  return [await Promise.race([r.then((x) => x), p.then((x) => x), q]), await ctx.step('s')]
}`

// esbuild comes with tsx; it is not a direct dependency.
const { transformSync } = createRequire(createRequire(import.meta.url).resolve('tsx'))('esbuild') as {
  transformSync(code: string, options: { target: string }): { code: string }
}

type Procedures = { readonly [name: string]: Procedure }

function compile(target: string): Procedures {
  const exports: Procedures = {}
  const { code } = transformSync(source, { target })
  ;(runInThisContext(`(exports) => {${code}}`) as (exports: Procedures) => void)(exports)
  return exports
}

const plain = compile('es2022')

describe.each(['es2022', 'es2017', 'es2015'])('compiled for %s', (target) => {
  const compiled = compile(target)

  test.each(Object.keys(plain))(
    '%s: gives the same log live, in replay, and with the log of other targets',
    async (name) => {
      const lives = await inEveryOrder(plain[name] as Procedure, 24)
      for (const { trial, log } of lives) {
        const replayed = await replay(compiled[name] as Procedure, log.events)
        expect(replayed.account.outcome).toBe(trial.account.outcome)
      }
      const compiledLives = await inEveryOrder(compiled[name] as Procedure, 24)
      for (const { trial, log } of compiledLives) {
        const replayed = await replay(plain[name] as Procedure, log.events)
        expect(replayed.account.outcome).toBe(trial.account.outcome)
      }
    },
  )
})

test('compiles differently for the older targets', () => {
  const codes = ['es2022', 'es2017', 'es2015'].map((target) => transformSync(source, { target }).code)
  expect(new Set(codes).size).toBe(3)
})
