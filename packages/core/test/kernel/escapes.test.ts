import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Log } from './support/log.ts'
import { live, type Procedure, replay, Trial } from './support/trial.ts'

const received: unknown[] = []
const hear = (error: unknown) => void received.push(error)
beforeEach(() => {
  received.length = 0
  process.prependListener('uncaughtException', hear).prependListener('unhandledRejection', hear)
})
afterEach(() => {
  process.off('uncaughtException', hear).off('unhandledRejection', hear)
  expect(received).toEqual([])
})

const fail = (what: string) => (): never => {
  throw new Error(what)
}

describe('an exception that escapes in a turn', () => {
  const escapes: { readonly [what: string]: () => void } = {
    tick: () => process.nextTick(fail('tick')),
    microtask: () => queueMicrotask(fail('microtask')),
    listener: () => {
      const target = new EventTarget()
      target.addEventListener('event', fail('listener'))
      target.dispatchEvent(new Event('event'))
    },
    'abort listener': () => {
      const controller = new AbortController()
      controller.signal.addEventListener('abort', fail('abort listener'))
      controller.abort()
    },
  }

  test.each(Object.entries(escapes))(
    'fails the run of an escaped exception: %s, live and in replay',
    async (what, letEscape) => {
      const procedure: Procedure = async (ctx) => {
        await ctx.step('a')
        letEscape()
        await ctx.step('b').finally(() => ctx.note('delivered'))
      }
      const { trial, log } = await live(procedure)
      expect(trial.account).toMatchObject({ outcome: `failed: Error: ${what}; left b`, notes: [] })
      log.end(true)
      expect((await replay(procedure, log.events)).account).toEqual(trial.account)
    },
  )

  test.each(Object.entries(escapes))(
    'fails a run that completes in the turn of the exception: %s',
    async (what, letEscape) => {
      const procedure: Procedure = async (ctx) => {
        await ctx.step('a')
        letEscape()
        return 'done'
      }
      const { trial } = await live(procedure)
      expect(trial.account.outcome).toBe(`failed: Error: ${what}; left `)
    },
  )

  test('keeps the error of a run that has already failed', async () => {
    const { trial } = await live(async (ctx) => {
      await ctx.step('a')
      process.nextTick(fail('escaped'))
      throw new Error('thrown')
    })
    expect(trial.account.outcome).toBe('failed: Error: thrown; left ')
  })

  test('delivers nothing further after an escaped exception, even of the same batch', async () => {
    const log = new Log()
    const trial = new Trial(async (ctx) => {
      const [a, b] = [ctx.step('a'), ctx.step('b')]
      void b.then(() => ctx.note('b is delivered'))
      await a
      process.nextTick(fail('escaped'))
    })
    await trial.deliver(log.events)
    await trial.deliver([log.settle(trial.find('a')), log.settle(trial.find('b'))])
    expect(trial.account).toMatchObject({ outcome: 'failed: Error: escaped; left b', notes: [] })
  })

  test('keeps the rest of the turn in the same run', async () => {
    const log = new Log()
    const rest: string[] = []
    const bad = new Trial(async (ctx) => {
      await ctx.step('a')
      for (let i = 0; i < 10; i++) process.nextTick(fail(`escape ${i}`))
      process.nextTick(() => rest.push(bad.execution.hasTurn ? 'its own turn' : 'no turn of its own'))
    })
    const procedure: Procedure = async (ctx) => {
      ctx.note(await ctx.step('a'))
      return ctx.step('b')
    }
    const others = Array.from({ length: 5 }, () => new Trial(procedure))
    await Promise.all([bad, ...others].map((trial) => trial.deliver(log.events)))
    const settled = log.settle(bad.find('a'))
    await Promise.all(
      [...others.slice(0, 2), bad, ...others.slice(2)].map((trial) => trial.deliver([settled])),
    )
    expect(bad.account.outcome).toBe('failed: Error: escape 0; left ')
    expect(rest).toEqual(['its own turn'])
    for (const other of others) expect(other.account).toMatchObject({ notes: ['a!'], outcome: 'waiting' })
  })

  test('keeps an exception from the process even if nothing follows it', async () => {
    const log = new Log()
    const trial = new Trial(async (ctx) => {
      await ctx.step('a')
      for (let i = 0; i < 10; i++) process.nextTick(fail(`escape ${i}`))
    })
    await trial.deliver(log.events)
    await trial.deliver([log.settle(trial.find('a'))])
    expect(trial.account.outcome).toBe('failed: Error: escape 0; left ')
    await new Promise((resolve) => setTimeout(resolve, 1))
  })
})

describe('a rejection', () => {
  const boom =
    (name: string): Procedure =>
    async (ctx) => {
      await ctx.step(name)
      throw new Error(`boom ${name}`)
    }

  test('ignores a rejection that is awaited late, if failures arrive in another order', async () => {
    const procedure: Procedure = async (ctx) => {
      const [a, b] = [boom('a')(ctx), boom('b')(ctx)] as [Promise<never>, Promise<never>]
      const caught: string[] = []
      for (const promise of [a, b]) await promise.catch((error) => caught.push(String(error)))
      return caught
    }
    const { trial, log } = await live(procedure, (pending, log) => void log.settle(pending.at(-1) as never))
    expect(trial.account.outcome).toBe('completed: ["Error: boom a","Error: boom b"]; left ')
    expect(trial.execution.unhandled).toEqual([])
    const again = await replay(procedure, log.events)
    expect(again.account).toEqual(trial.account)
    expect(again.execution.unhandled).toEqual([])
  })

  test('reports an unhandled rejection without changing the outcome', async () => {
    const { trial } = await live(
      async (ctx) => {
        void boom('a')(ctx)
        void ctx.step('b')
        return ctx.step('c')
      },
      (pending, log) => {
        const [next] = pending
        if (next?.operation.name === 'b') log.fail(next)
        else if (next !== undefined) log.settle(next)
      },
    )
    expect(trial.account.outcome).toBe('completed: "c!"; left ')
    expect(trial.execution.unhandled.map(String)).toEqual(['Error: boom a', 'Error: b failed'])
  })
})
