import { EventEmitter } from 'node:events'
import { createRequire } from 'node:module'
import { setTimeout as wait } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { MessageChannel } from 'node:worker_threads'
import pLimit from 'p-limit'
import { describe, expect, test } from 'vitest'
import { turns } from '../../src/host/turn.ts'
import { Log } from './support/log.ts'
import { live, type Procedure, replay, Trial, turnLoop } from './support/trial.ts'

/** A dynamic import as Node does it, past the test runner. */
const past = 'data:text/javascript,export const nativeImport = (specifier) => import(specifier)'
const { nativeImport } = (await import(past)) as { nativeImport(specifier: string): Promise<unknown> }
const someFile = pathToFileURL(createRequire(import.meta.url).resolve('dataloader'))

/** Begins a run and lets the given operations succeed, in that order. */
async function run(procedure: Procedure, ...names: readonly string[]): Promise<{ trial: Trial; log: Log }> {
  const log = new Log()
  const trial = new Trial(procedure)
  await trial.deliver(log.events)
  for (const name of names) await trial.deliver([log.settle(trial.find(name))])
  return { trial, log }
}

/** Begins a run, and waits for it to move while nothing is delivered. */
async function untilItMoves(procedure: Procedure): Promise<Trial> {
  const log = new Log()
  return new Promise((resolve) => {
    const trial: Trial = new Trial(procedure, { onForeign: () => setImmediate(() => resolve(trial)) })
    void trial.deliver(log.events)
  })
}

describe('a procedure that waits for something outside ctx', () => {
  const waiting: { readonly [what: string]: () => Promise<unknown> } = {
    'an immediate': () => new Promise((resolve) => setImmediate(resolve)),
    'a timer': () => wait(1),
    'a digest': () => crypto.subtle.digest('SHA-256', new Uint8Array(3)),
    'a message': () =>
      new Promise((resolve) => {
        const { port1, port2 } = new MessageChannel()
        port1.on('message', () => resolve(port1.close()))
        port2.postMessage('sent')
      }),
  }

  test.each(Object.entries(waiting))('detects waiting for %s, live and in replay', async (_, begin) => {
    const procedure: Procedure = async (ctx) => {
      await ctx.step('a')
      await begin()
      return ctx.step('b')
    }
    // The first if it comes within the grace, as it does unless the machine is very busy.
    const outcome =
      /^foreign await after a: (step "b" was issued outside any turn|it has no pending operation)$/
    const { trial, log } = await run(procedure, 'a')
    expect(trial.account.outcome).toMatch(outcome)
    expect(trial.issued).toEqual(['0 step a 0.0'])
    expect((await replay(procedure, log.events)).account.outcome).toMatch(outcome)
  })

  test('detects waiting for a module if Node reads files in the background', async () => {
    const procedure: Procedure = async (ctx) => {
      await ctx.step('a')
      await nativeImport(`${someFile.href}?${Math.random()}`)
      return ctx.step('b')
    }
    const { trial, log } = await run(procedure, 'a')
    const replayed = await replay(procedure, log.events)
    for (const { account, decision } of [trial, replayed])
      if (decision?.state !== 'foreign-await')
        expect(account).toEqual({ issued: ['0 step a 0.0', '1 step b 1.0'], notes: [], outcome: 'waiting' })
  })

  test('detects waiting forever when nothing is pending', async () => {
    const { trial } = await run(async (ctx) => {
      await ctx.step('a')
      await new Promise(() => {})
    }, 'a')
    expect(trial.account.outcome).toBe('foreign await after a: it has no pending operation')
    expect(trial.foreignMoves).toBe(0)
  })

  test('detects waiting before the first operation', async () => {
    const { trial } = await run(() => new Promise(() => {}))
    expect(trial.account.outcome).toBe('foreign await after the start: it has no pending operation')
  })

  test('detects that a procedure moves while an operation is pending', async () => {
    const trial = await untilItMoves(async (ctx) => {
      await Promise.race([ctx.sleep('long'), wait(1)])
      return ctx.step('b')
    })
    expect(trial.foreignMoves).toBe(1)
    expect(trial.execution.decide()).toMatchObject({ state: 'foreign-await', after: 'long' })
    expect(trial.issued).toEqual(['0 timer long 0.0'])
  })

  test('detects a foreign promise when it wins a race', async () => {
    const trial = await untilItMoves((ctx) => Promise.race([wait(1), ctx.step('a'), ctx.step('b')]))
    expect(trial.execution.decide()).toMatchObject({ state: 'foreign-await', after: 'b' })
  })

  test('detects an end outside a turn, which has no outcome', async () => {
    const returns = await untilItMoves((ctx) => Promise.race([ctx.sleep('long'), wait(1, 'early')]))
    const throws = await untilItMoves(async (ctx) => {
      void ctx.sleep('long')
      await wait(1)
      throw new Error('late')
    })
    for (const { execution } of [returns, throws])
      expect(execution.decide()).toMatchObject({
        state: 'foreign-await',
        what: 'the procedure ended outside any turn',
      })
  })

  test('delivers nothing further after a foreign await', async () => {
    const trial = await untilItMoves(async (ctx) => {
      void ctx.sleep('long').then(() => ctx.note('delivered'))
      await wait(1)
      void ctx.step('b').catch(() => ctx.note('rejected'))
      void ctx.step('c').finally(() => ctx.note('settled'))
    })
    const log = new Log()
    await trial.deliver([log.settle(trial.find('long'))])
    await turnLoop()
    expect(trial.notes).toEqual([])
    expect(trial.execution.outstanding).toBe(0)
    expect(trial.foreignMoves).toBe(1)
  })

  test('names the timers that were set', async () => {
    const { trial } = await run(async (ctx) => {
      turns.current?.onTimer('setTimeout', () => undefined)
      turns.current?.onTimer('setTimeout', () => undefined)
      turns.current?.onTimer('setImmediate', () => undefined)
      await ctx.step('a')
      await new Promise(() => {})
    }, 'a')
    expect(trial.account.outcome).toBe(
      'foreign await after a: it has no pending operation; it used setTimeout, setImmediate',
    )
  })
})

describe('an unawaited timer', () => {
  test('reports a timer that fires during the run, with the place where it was set', async () => {
    const reported: string[] = []
    const onTimerFired = (api: string, site: () => string | undefined): void =>
      void reported.push(`${api} at ${site()}`)
    let fire: () => void = () => {}
    const procedure: Procedure = async (ctx) => {
      fire = turns.current?.onTimer('setTimeout()', () => 'refund.ts:12:28') ?? fire
      await ctx.step('a')
    }
    const log = new Log()
    const trial = new Trial(procedure, { onTimerFired })
    await trial.deliver(log.events)
    fire()
    expect(reported).toEqual(['setTimeout() at refund.ts:12:28'])
    await trial.deliver([log.settle(trial.find('a'))])
    fire()
    expect(reported).toHaveLength(1)
  })

  test('does not harm the procedure when a timer fires', async () => {
    let flushed = 0
    const log = { info: () => void setTimeout(() => flushed++, 1) }
    const { trial } = await live(async (ctx) => {
      const value = await ctx.step('a')
      log.info()
      return value
    })
    expect(trial.account.outcome).toBe('completed: "a!"; left ')
    await wait(5)
    expect(flushed).toBe(1)
  })
})

describe('a digest begun in the background', () => {
  let digest: Promise<unknown>
  const procedure: Procedure = async (ctx) => {
    digest = crypto.subtle.digest('SHA-256', new Uint8Array(3))
    await ctx.step('a')
    await ctx.step('b')
    await digest
    return ctx.step('c')
  }

  test('passes live once a background digest is done, and reports it in replay as a foreign await', async () => {
    const log = new Log()
    const trial = new Trial(procedure)
    await trial.deliver(log.events)
    await trial.deliver([log.settle(trial.find('a'))])
    await digest
    await trial.deliver([log.settle(trial.find('b'))])
    await trial.deliver([log.settle(trial.find('c'))])
    expect(trial.account.outcome).toBe('completed: "c!"; left ')

    const replayed = await replay(procedure, log.events)
    expect(replayed.account.outcome).toBe('foreign await after b: step "c" was issued outside any turn')
    await replayed.deliver([])
    expect(replayed.account.outcome).toMatch(/^foreign await/)
  })

  test('reports a digest alike if the log ends where it was awaited', async () => {
    const { log } = await run(procedure, 'a', 'b')
    const replayed = await replay(procedure, log.events)
    expect(replayed.account.outcome).toBe('foreign await after b: step "c" was issued outside any turn')
  })
})

describe('resources shared by two runs', () => {
  test('detects a shared promise in the turn of the other run', async () => {
    let rates: Promise<string> | undefined
    const procedure: Procedure = async (ctx) => {
      rates ??= ctx.step('rates')
      return [await rates, await ctx.step('use')]
    }
    const [one, log] = [new Trial(procedure), new Log()]
    const two = new Trial(procedure)
    await one.deliver(log.events)
    await Promise.all([two.deliver(new Log().events), one.deliver([log.settle(one.find('rates'))])])
    expect(two.execution.decide()).toMatchObject({
      state: 'foreign-await',
      after: 'the start',
      what: `step "use" was issued in a turn of run "${one.execution.id}"`,
    })
    await one.deliver([log.settle(one.find('use'))])
    expect(one.account.outcome).toBe('completed: ["rates!","use!"]; left ')
  })

  test('detects that a fresh process diverges after a shared promise had settled', async () => {
    const procedureOf = (cache: { rates?: Promise<string> }): Procedure => {
      return async (ctx) => {
        cache.rates ??= ctx.step('rates')
        return [await cache.rates, await ctx.step('use')]
      }
    }
    const shared = procedureOf({})
    await live(shared)
    const { log } = await live(shared)
    const fresh = await replay(procedureOf({}), log.events)
    expect(fresh.account.outcome).toBe(
      'nondeterminism at 0: step "use" in turn 0, not step "rates" in turn 0',
    )
  })

  test('detects waiting for a limiter, and names the run that releases it', async () => {
    const limit = pLimit(1)
    const procedure: Procedure = async (ctx) => [await limit(() => ctx.step('a')), await ctx.step('b')]
    const first = await run(procedure)
    const second = await run(procedure)
    expect(second.trial.account.outcome).toBe('foreign await after the start: it has no pending operation')

    await first.trial.deliver([first.log.settle(first.trial.find('a'))])
    expect(second.trial.execution.decide()).toMatchObject({
      what: `step "a" was issued in a turn of run "${first.trial.execution.id}"`,
    })
    await first.trial.deliver([first.log.settle(first.trial.find('b'))])
    expect(first.trial.account.outcome).toBe('completed: ["a!","b!"]; left ')
  })

  test('detects a listener on an event bus in the turn of another run', async () => {
    const bus = new EventEmitter()
    const listener = await run(async (ctx) => {
      void ctx.sleep('long')
      await new Promise((resolve) => bus.once('event', resolve))
      await ctx.step('heard')
    })
    const sender = await run(async (ctx) => {
      await ctx.step('a')
      bus.emit('event')
    }, 'a')
    expect(sender.trial.account.outcome).toBe('completed: undefined; left ')
    expect(listener.trial.execution.decide()).toMatchObject({
      what: `step "heard" was issued in a turn of run "${sender.trial.execution.id}"`,
    })
  })
})

describe('ctx outside its procedure', () => {
  test('never settles an operation issued in a step body, and detects the run', async () => {
    let inBody: () => Promise<string> = () => Promise.resolve('')
    const { trial } = await run(async (ctx) => {
      inBody = () => ctx.step('nested')
      return ctx.step('a')
    })
    let settled = false
    void inBody().finally(() => {
      settled = true
    })
    await turnLoop()
    expect(settled).toBe(false)
    expect(trial.execution.decide()).toMatchObject({
      state: 'foreign-await',
      after: 'a',
      what: 'step "nested" was issued outside any turn',
    })
  })

  test('issues nothing after the end, and keeps the outcome', async () => {
    const { trial } = await run((ctx) => {
      void wait(1).then(() => ctx.step('late'))
      return 'done'
    })
    await wait(5)
    expect(trial.execution.decide()).toMatchObject({ state: 'completed', output: 'done', left: [] })
    expect(trial.foreignMoves).toBe(0)
  })

  test('tells a caller whether it has the turn', async () => {
    const seen: boolean[] = []
    const log = new Log()
    const trial: Trial = new Trial((ctx) => {
      seen.push(trial.execution.hasTurn)
      return ctx.step('a').then(() => seen.push(trial.execution.hasTurn))
    })
    await trial.deliver(log.events)
    seen.push(trial.execution.hasTurn)
    await trial.deliver([log.settle(trial.find('a'))])
    expect(seen).toEqual([true, false, true])
  })
})
