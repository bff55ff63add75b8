import { type Ctx, FinalError, PawlError, procedure, type StepCall } from '@pawl/core'
import { testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { keepLines } from './support.ts'

const start = Date.parse('2026-01-01T00:00:00Z')

/** A procedure of one step, whose outcome is returned as a value. */
const one = procedure({ name: 'one' }, async (ctx) => {
  try {
    return { value: await ctx.step('work', () => 'done') }
  } catch (error) {
    if (!PawlError.is(error)) throw error
    return { code: error.code, details: error.details, message: error.message }
  }
})

describe('a step', () => {
  test('a step returns the result of its body, and runs it once', async () => {
    await using engine = await testEngine({ procedures: [one] })
    const run = await engine.run(one)
    expect(await run.result()).toEqual({ value: 'done' })
    expect(engine.calls).toEqual({ work: 1 })
  })

  test('a step may be taken out of its ctx', async () => {
    const apart = procedure({ name: 'apart' }, async ({ step, runId, race, sleep }) => {
      const { value } = await race({
        steps: (ctx) => Promise.all([step2(ctx.step), sleepOf(ctx)]),
        late: sleep('1d'),
      })
      return [await step('mine', () => 1), value, runId]
    })
    const step2 = (step: Ctx['step']): Promise<number> => step('branch', () => 2)
    const sleepOf = ({ sleep }: Ctx): Promise<void> => sleep('1s')
    await using engine = await testEngine({ procedures: [apart], replay: 'always' })
    expect(await (await engine.run(apart, undefined, { id: 'a' })).result()).toEqual([1, [2, undefined], 'a'])
  })

  test('a step may be synchronous, asynchronous or return nothing', async () => {
    const several = procedure({ name: 'several' }, async (ctx) => [
      await ctx.step('sync', () => 1),
      await ctx.step('async', async () => 2),
      await ctx.step('nothing', () => {}),
      await ctx.step('null', () => null),
    ])
    await using engine = await testEngine({ procedures: [several] })
    expect(await (await engine.run(several)).result()).toEqual([1, 2, undefined, null])
  })

  test('a step returns every payload type, decoded afresh', async () => {
    const result = {
      date: new Date(5),
      map: new Map([['a', 1]]),
      set: new Set([1n]),
      bytes: Uint8Array.of(1, 2),
    }
    const typed = procedure({ name: 'typed' }, async (ctx) => {
      const first = await ctx.step('make', () => result)
      first.map.set('a', 2)
      return { first, same: Object.is(first, result) }
    })
    await using engine = await testEngine({ procedures: [typed] })
    const { first, same } = await (await engine.run(typed)).result()
    expect(same).toBe(false)
    expect(first).toEqual({ ...result, map: new Map([['a', 2]]) })
    expect(result.map.get('a')).toBe(1)
  })

  test('a step whose result cannot be stored fails as payload-refused without a retry, with the path', async () => {
    await using engine = await testEngine({
      procedures: [one],
      steps: { work: () => ({ items: [1, () => 2] }) },
    })
    const outcome = await (await engine.run(one)).result()
    expect(outcome).toMatchObject({ code: 'payload-refused', details: { path: 'result.items[1]' } })
    expect(engine.calls).toEqual({ work: 1 })
  })

  test('a step with an invalid option is refused before it takes a position', async () => {
    const wrong = procedure({ name: 'wrong' }, async (ctx) => {
      const refused = await Promise.allSettled([
        (async () => ctx.step('', () => 1))(),
        (async () => ctx.step('late', () => 1, { timeout: '5' as '5s' }))(),
        (async () => ctx.step('often', () => 1, { retry: { attempts: 0 } }))(),
        (async () => ctx.step('typo', () => 1, { retrys: false } as object))(),
      ])
      await ctx.step('right', () => 1)
      return refused.map((one) =>
        one.status === 'rejected' && PawlError.is(one.reason) ? one.reason.code : 'accepted',
      )
    })
    await using engine = await testEngine({ procedures: [wrong] })
    const run = await engine.run(wrong)
    expect(await run.result()).toEqual([
      'option-invalid',
      'duration-invalid',
      'option-invalid',
      'option-invalid',
    ])
    const { execution_log } = await engine.log(run.id)
    expect(execution_log.map(({ position, name }) => [position, name])).toEqual([[0, 'right']])
  })
})

describe('retries', () => {
  test('a step is attempted three times by default, with backoff', async () => {
    const at: number[] = []
    const flaky = procedure({ name: 'flaky' }, (ctx) =>
      ctx
        .step('work', () => 1, { retry: { jitter: 'none' } })
        .catch((error: PawlError<'step-failed'>) => error.details),
    )
    await using engine = await testEngine({
      procedures: [flaky],
      steps: {
        work: async () => {
          at.push(Date.parse((await engine.list()).items[0]?.startedAt.toISOString() ?? '') - start)
          throw Object.assign(new TypeError('no luck'), { code: 'luck' })
        },
      },
    })
    const run = await engine.run(flaky)
    expect(await run.result()).toEqual({
      step: 'work',
      attempts: 3,
      cause: { name: 'TypeError', message: 'no luck', code: 'luck' },
    })
    const { endedAt } = await run.status()
    expect(endedAt?.getTime()).toBe(start + 1_000 + 2_000)
    expect(engine.calls).toEqual({ work: 3 })
  })

  test('the backoff grows by its factor up to the maximum', async () => {
    const often = procedure({ name: 'often' }, (ctx) =>
      ctx
        .step('work', () => 1, {
          retry: { attempts: 6, backoff: '10s', factor: 3, max: '1m', jitter: 'none' },
        })
        .catch(() => ctx.now()),
    )
    await using engine = await testEngine({ procedures: [often], steps: { work: fail } })
    const ended = await (await engine.run(often)).result()
    expect((ended as Date).getTime() - start).toBe(10_000 + 30_000 + 60_000 + 60_000 + 60_000)
  })

  test('retries without a backoff follow at once, each recorded before the next begins', async () => {
    const attempts: number[] = []
    const eager = procedure({ name: 'eager' }, (ctx) =>
      ctx.step('work', () => 1, { retry: { attempts: 4, backoff: '0s' } }).catch(() => ctx.now()),
    )
    await using engine = await testEngine({
      procedures: [eager],
      steps: {
        work: ({ attempt }: StepCall) => {
          attempts.push(attempt)
          fail()
        },
      },
    })
    expect((await (await engine.run(eager)).result()) as Date).toEqual(new Date(start))
    expect(attempts).toEqual([1, 2, 3, 4])
  })

  test('retries without a backoff follow at once, however many there were', async () => {
    const retry = { attempts: 200, backoff: '0s', factor: 1_000 } as const
    const tireless = procedure({ name: 'tireless' }, (ctx) => ctx.step('work', () => 0, { retry }))
    // The wait before the 104th would be 0 times infinity.
    const work = ({ attempt }: StepCall) => (attempt < 110 ? fail() : attempt)
    await using engine = await testEngine({ procedures: [tireless], steps: { work } })
    const run = await engine.run(tireless)
    expect(await run.result()).toBe(110)
    expect((await run.status()).endedAt).toEqual(new Date(start))
  })

  test('a retry waits a random part of the backoff, from the seed', async () => {
    const waits = async (seed: number): Promise<number> => {
      await using engine = await testEngine({ procedures: [jittery], steps: { work: fail }, seed })
      return ((await (await engine.run(jittery)).result()) as Date).getTime() - start
    }
    const jittery = procedure({ name: 'jittery' }, (ctx) =>
      ctx.step('work', () => 1, { retry: { attempts: 2, backoff: '1h' } }).catch(() => ctx.now()),
    )
    const [first, again, other] = [await waits(1), await waits(1), await waits(2)]
    expect(first).toBe(again)
    expect(first).not.toBe(other)
    expect(first).toBeGreaterThan(0)
    expect(first).toBeLessThan(3_600_000)
  })

  test('retries end with the first success', async () => {
    let attempts = 0
    await using engine = await testEngine({
      procedures: [one],
      steps: { work: () => (++attempts < 3 ? fail() : `attempt ${attempts}`) },
    })
    expect(await (await engine.run(one)).result()).toEqual({ value: 'attempt 3' })
  })

  test('a step is not retried after a FinalError, with retry: false, or if `when` returns false', async () => {
    const none = procedure({ name: 'none' }, async (ctx) => {
      await ctx.step('final', () => 1).catch(() => {})
      await ctx.step('single', () => 1, { retry: false }).catch(() => {})
      await ctx
        .step('picky', () => 1, { retry: { when: (error) => !String(error).includes('stop') } })
        .catch(() => {})
      await ctx.step('broken', () => 1, { retry: { when: () => fail() } }).catch(() => {})
    })
    await using engine = await testEngine({
      procedures: [none],
      steps: {
        final: () => {
          throw new FinalError('card stolen', { code: 'stolen' })
        },
        single: fail,
        picky: () => {
          throw new Error('stop')
        },
        broken: fail,
      },
    })
    await (await engine.run(none)).result()
    expect(engine.calls).toEqual({ final: 1, single: 1, picky: 1, broken: 1 })
  })

  test('a failed step keeps the code of a final error', async () => {
    await using engine = await testEngine({
      procedures: [one],
      steps: {
        work: () => {
          throw new FinalError('card stolen', { code: 'stolen' })
        },
      },
    })
    const outcome = await (await engine.run(one)).result()
    expect(outcome).toMatchObject({
      code: 'step-failed',
      details: { attempts: 1, cause: { name: 'FinalError', message: 'card stolen', code: 'stolen' } },
    })
  })

  test('retries end with a log line if `when` throws', async () => {
    const { logger, lines } = keepLines()
    const when = (): boolean => {
      throw new Error('a slip')
    }
    const slipping = procedure({ name: 'slipping' }, (ctx) =>
      ctx.step('a', () => Promise.reject(new Error('first')), { retry: { backoff: '1ms', when } }),
    )
    await using engine = await testEngine({ procedures: [slipping], logger })
    await expect((await engine.run(slipping)).result()).rejects.toThrow('first')
    expect(lines).toMatchObject([
      {
        level: 'warn',
        message: 'retry.when of step "a" threw an error, which ends the attempts: Error: a slip',
      },
      { level: 'error', message: expect.stringContaining('failed (step-failed in') },
    ])
  })

  test('retries end with a log line if `when` returns a promise', async () => {
    const { logger, lines } = keepLines()
    const when = (): boolean => Promise.reject(new Error('too late')) as unknown as boolean
    const slipping = procedure({ name: 'slipping' }, (ctx) =>
      ctx.step('a', () => Promise.reject(new Error('first')), { retry: { backoff: '1ms', when } }),
    )
    await using engine = await testEngine({ procedures: [slipping], logger })
    await expect((await engine.run(slipping)).result()).rejects.toThrow('first')
    expect(lines).toMatchObject([
      { level: 'warn', message: expect.stringContaining('must return a boolean') },
      { level: 'error', message: expect.stringContaining('failed (step-failed in') },
    ])
    expect(engine.calls).toEqual({ a: 1 })
  })

  test('retries share one idempotency key, count the attempts, and differ from every other step', async () => {
    const calls: Pick<StepCall, 'attempt' | 'idempotencyKey'>[] = []
    // Copied, as who passes it on with options of his own does.
    const note = (call: StepCall): void => {
      const { attempt, idempotencyKey, signal } = { ...call }
      expect(signal).toBe(call.signal)

      calls.push({ attempt, idempotencyKey })
      if (attempt < 3 && calls.length < 4) fail()
    }
    const two = procedure({ name: 'two' }, async (ctx) => {
      await ctx.step('a', () => {})
      await ctx.step('b', () => {})
    })
    await using engine = await testEngine({ procedures: [two], steps: { a: note, b: note } })
    await (await engine.run(two)).result()
    await (await engine.run(two)).result()
    const keys = calls.map(({ idempotencyKey }) => idempotencyKey)
    expect(calls.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 1, 1, 1])
    expect(new Set(keys.slice(0, 3)).size).toBe(1)
    expect(new Set(keys).size).toBe(4)
  })

  test('retries survive a crash, with their count and their wait', async () => {
    const attempts: number[] = []
    const patient = procedure({ name: 'patient' }, (ctx) =>
      ctx
        .step('work', () => 1, { retry: { attempts: 4, backoff: '1h', factor: 1, jitter: 'none' } })
        .catch(() => ctx.now()),
    )
    await using engine = await testEngine({
      procedures: [patient],
      steps: {
        work: ({ attempt }: StepCall) => {
          attempts.push(attempt)
          fail()
        },
      },
    })
    const run = await engine.run(patient)
    await engine.advance('90m')
    await engine.crash()
    const ended = (await run.result()) as Date
    expect(attempts).toEqual([1, 2, 3, 4])
    expect(ended.getTime() - start).toBe(3 * 3_600_000)
  })

  test('retries are one open entry of the log', async () => {
    await using engine = await testEngine({ procedures: [one], steps: { work: fail } })
    const run = await engine.run(one)
    await engine.advance('0s')
    const { execution_log, replay_index } = await engine.log(run.id)
    expect(execution_log).toMatchObject([
      { position: 0, type: 'step', name: 'work', status: 'open', result: null },
    ])
    expect(replay_index).toBe(0)
  })
})

describe('a timeout', () => {
  const hang = (): Promise<never> => new Promise(() => {})
  const timed = procedure({ name: 'timed' }, (ctx) =>
    ctx
      .step('work', () => 1, { timeout: '30s', retry: { attempts: 2, backoff: '1s', jitter: 'none' } })
      .catch((error: PawlError<'step-timed-out'>) => ({
        code: error.code,
        details: error.details,
        at: ctx.now(),
      })),
  )

  test('a timeout counts for each attempt, aborts its signal, and names its duration', async () => {
    const signals: AbortSignal[] = []
    await using engine = await testEngine({
      procedures: [timed],
      steps: {
        work: ({ signal }: StepCall) => {
          signals.push(signal)
          return hang()
        },
      },
    })
    const outcome = await (await engine.run(timed)).result()
    expect(outcome).toEqual({
      code: 'step-timed-out',
      details: { step: 'work', after: '30s' },
      at: new Date(start + 61_000),
    })
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true])
    expect(signals[0]?.reason).toMatchObject({ name: 'TimeoutError' })
  })

  test('a timeout does not affect an attempt that ends in time', async () => {
    let signal: AbortSignal | undefined
    await using engine = await testEngine({
      procedures: [timed],
      steps: {
        work: (call: StepCall) => {
          signal = call.signal
          return 'quick'
        },
      },
    })
    expect(await (await engine.run(timed)).result()).toBe('quick')
    await engine.advance('1h')
    expect(signal?.aborted).toBe(false)
  })

  test('the late end of a timed-out body changes nothing', async () => {
    let end = (_: string): void => {}
    await using engine = await testEngine({
      procedures: [timed],
      steps: {
        work: ({ attempt }: StepCall) =>
          attempt === 1 ? new Promise((resolve) => (end = resolve)) : 'second',
      },
    })
    const run = await engine.run(timed)
    expect(await run.result()).toBe('second')
    end('late')
    expect((await engine.log(run.id)).execution_log).toMatchObject([{ result: 'second' }])
  })
})

describe('bodies that misbehave', () => {
  test('a body may throw any value, and affects its own step only', async () => {
    const thrown = [undefined, null, 5, 'text', { message: 'odd', code: 7 }, Object.create(null), Symbol('s')]
    const wild = procedure({ name: 'wild' }, async (ctx) => {
      const causes: string[] = []
      for (const index of thrown.keys())
        await ctx
          .step(`throw ${index}`, () => {}, { retry: false })
          .catch((error: PawlError<'step-failed'>) => {
            causes.push(error.details.cause.message)
          })
      return causes
    })
    const steps = Object.fromEntries(
      thrown.map((value, index) => [`throw ${index}`, () => Promise.reject(value)]),
    )
    await using engine = await testEngine({ procedures: [wild], steps })
    const causes = await (await engine.run(wild)).result()
    expect(causes).toHaveLength(thrown.length)
    expect(causes.slice(2, 5)).toEqual(['5 was thrown, which is not an error', 'text', 'odd'])
  })

  test('a body that leaves a rejection behind keeps its result, and the process survives', async () => {
    const errors: string[] = []
    const logger = {
      debug: () => {},
      info: () => {},
      warn: () => {},
      error: (message: string) => void errors.push(message),
    }
    await using engine = await testEngine({
      procedures: [one],
      logger,
      steps: {
        work: () => {
          void Promise.reject(new Error('left behind'))
          return 'fine'
        },
      },
    })
    expect(await (await engine.run(one)).result()).toEqual({ value: 'fine' })
    expect(errors).toEqual([expect.stringContaining('step "work"')])
  })
})

test('concurrent steps are limited by the concurrency of the engine', async () => {
  let now = 0
  let maximum = 0
  const wide = procedure({ name: 'wide', output: z.array(z.number()) }, (ctx) =>
    Promise.all(Array.from({ length: 20 }, (_, index) => ctx.step(`part ${index}`, () => index))),
  )
  const part = async (): Promise<number> => {
    maximum = Math.max(maximum, ++now)
    await new Promise((resolve) => setTimeout(resolve, 1))
    now--
    return now
  }
  const steps = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`part ${index}`, part]))
  await using engine = await testEngine({ procedures: [wide], concurrency: 3, steps })
  expect(await (await engine.run(wide)).result()).toHaveLength(20)
  expect(maximum).toBe(3)
})

test('a body that the procedure ends in its turn frees its slot, outside the turn', async () => {
  const watching = procedure({ name: 'watching', signals: { stop: z.void() } }, async (ctx) => {
    const abort = new AbortController()
    const watch = ctx.step('watch', async () => {
      await new Promise((resolve) => abort.signal.addEventListener('abort', resolve))
      return { at: Date.now(), random: Math.random() }
    })
    await ctx.receive('stop')
    abort.abort()
    return { seen: await watch, at: ctx.now().getTime(), first: ctx.random() }
  })
  const eager = procedure({ name: 'eager' }, (ctx) => ctx.step('once', () => 'done', { retry: false }))
  await using engine = await testEngine({ procedures: [watching, eager], concurrency: 1 })
  const [first, ...others] = [await engine.run(watching), await engine.run(eager), await engine.run(eager)]
  await first.signal('stop')
  const { seen, at, first: random } = await first.result()
  expect(seen.at).toBeGreaterThan(at)
  expect(seen.random).not.toBe(random)
  for (const run of others) expect(await run.result()).toBe('done')
})

test('steps that hold all slots while others wait are logged once', async () => {
  const { logger, lines } = keepLines()
  const waits = procedure({ name: 'waits' }, (ctx) =>
    ctx.step('wait for another run', async () =>
      (await engine.run(works, undefined, { id: 'works' })).result(),
    ),
  )
  const works = procedure({ name: 'works' }, (ctx) => ctx.step('work', () => 1))
  const engine = await testEngine({ procedures: [waits, works], concurrency: 1, logger })
  await engine.run(waits)
  // One poll sees who waits, another that they still do: each jump of time fires one.
  await engine.advance('5m')
  await engine.advance('5m')
  const warnings = lines.filter(({ level }) => level === 'warn')
  expect(warnings).toMatchObject([
    { message: expect.stringContaining('All 1 step slots have been busy for 30 s') },
  ])
  await engine.stop({ within: '1ms' }).catch(() => {})
})

function fail(): never {
  throw new Error('no luck')
}
