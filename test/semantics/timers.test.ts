import { createClient, type Duration, procedure } from '@pawl/core'
import { memory, testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { day, hour, minute, second, start } from './support.ts'

const since = (date: Date): number => date.getTime() - start

describe('sleep', () => {
  const nap = procedure({ name: 'nap', input: z.string() }, async (ctx, time) => {
    await ctx.sleep(time as Duration)
    return ctx.now()
  })

  test.each([
    ['0s', 0],
    ['1ms', 1],
    ['1.5h', 1.5 * hour],
    ['30d', 30 * day],
    ['2w', 14 * day],
    ['109575d', 109_575 * day],
  ])('of %s takes exactly that', async (time, ms) => {
    await using engine = await testEngine({ procedures: [nap] })
    expect(since(await (await engine.run(nap, time)).result())).toBe(ms)
  })

  test.each([['5'], ['-1s'], ['NaNs'], ['400y'], ['109576d']])('of %s is refused', async (time) => {
    await using engine = await testEngine({ procedures: [nap] })
    const run = await engine.run(nap, time)
    await expect(run.result()).rejects.toMatchObject({
      code: 'procedure-broken',
      details: { cause: { code: 'duration-invalid' } },
    })
  })

  test('sleep of 30 days takes no real time', async () => {
    await using engine = await testEngine({ procedures: [nap] })
    const run = await engine.run(nap, '30d')
    await run.result()
  })

  test('sleep shows when it ends', async () => {
    await using engine = await testEngine({ procedures: [nap] })
    const run = await engine.run(nap, '3d')
    await engine.advance('1d')
    expect(await run.status()).toMatchObject({
      status: 'waiting',
      waitingFor: [
        { kind: 'timer', name: 'sleep', position: 0, ask: undefined, until: new Date(start + 3 * day) },
      ],
    })
    const { execution_log, replay_index } = await engine.log(run.id)
    expect(execution_log).toEqual([
      {
        position: 0,
        type: 'timer',
        name: 'sleep',
        status: 'open',
        result: null,
        timestamp: '2026-01-01T00:00:00.000Z',
        duration_ms: 0,
      },
    ])
    expect(replay_index).toBe(0)
  })

  test('sleep is a log entry with an empty result once it has ended', async () => {
    await using engine = await testEngine({ procedures: [nap] })
    const run = await engine.run(nap, '3d')
    await run.result()
    expect(await engine.log(run.id)).toMatchObject({
      execution_log: [
        {
          type: 'timer',
          status: 'done',
          result: {},
          timestamp: '2026-01-04T00:00:00.000Z',
          duration_ms: 3 * day,
        },
      ],
      replay_index: 1,
    })
  })

  test('sleep that ended without a worker ends with the next one', async () => {
    const store = memory()
    const first = await testEngine({ procedures: [nap], store })
    const run = await first.run(nap, '1h')
    await first.advance('1m')
    await first.stop()
    const idle = await testEngine({ procedures: [], store })
    await idle.advance('2h')
    await idle.stop()
    await using second = await testEngine({ procedures: [nap], store })
    expect(since(await second.get(nap, run.id).result())).toBe(2 * hour + minute)
  })

  test('of two sleeps that ended without a worker, the earlier ends first', async () => {
    const racing = procedure({ name: 'racing' }, (ctx) =>
      Promise.race([ctx.sleep('3h').then(() => 'expired'), ctx.sleep('2h').then(() => 'reminded')]),
    )
    const store = memory()
    const first = await testEngine({ procedures: [racing], store })
    const run = await first.run(racing)
    await first.advance('1m')
    await first.stop()
    const idle = await testEngine({ procedures: [], store })
    await idle.advance('4h')
    await idle.stop()
    await using second = await testEngine({ procedures: [racing], store })
    expect(await second.get(racing, run.id).result()).toBe('reminded')
  })

  test('sleep ends at its time however often the worker dies', async () => {
    await using engine = await testEngine({ procedures: [nap] })
    const run = await engine.run(nap, '1h')
    for (let minutes = 0; minutes < 50; minutes += 10) {
      await engine.advance('10m')
      await engine.crash()
    }
    expect(since(await run.result())).toBe(hour)
  })
})

describe('sleepUntil', () => {
  const wake = procedure({ name: 'wake', input: z.date() }, async (ctx, at) => {
    await ctx.sleepUntil(at)
    return ctx.now()
  })

  test('sleepUntil waits for the date', async () => {
    await using engine = await testEngine({ procedures: [wake] })
    expect(since(await (await engine.run(wake, new Date(start + 40 * day))).result())).toBe(40 * day)
  })

  test('sleepUntil ends at once if the date has passed', async () => {
    await using engine = await testEngine({ procedures: [wake] })
    expect(since(await (await engine.run(wake, new Date(0))).result())).toBe(0)
  })

  test('sleepUntil refuses an invalid date', async () => {
    const invalid = procedure({ name: 'invalid' }, (ctx) => ctx.sleepUntil(new Date(Number.NaN)))
    await using engine = await testEngine({ procedures: [invalid] })
    await expect((await engine.run(invalid)).result()).rejects.toMatchObject({
      details: { cause: { code: 'option-invalid' } },
    })
  })
})

describe('timers together', () => {
  test('a race of timers is won by the shorter one, and the loser stays open without effect', async () => {
    const race = procedure({ name: 'race' }, async (ctx) => {
      const winner = await Promise.race([
        ctx.sleep('2h').then(() => 'slow'),
        ctx.sleep('1h').then(() => 'fast'),
      ])
      return { winner, now: ctx.now() }
    })
    await using engine = await testEngine({ procedures: [race] })
    const run = await engine.run(race)
    expect(await run.result()).toEqual({ winner: 'fast', now: new Date(start + hour) })
    expect((await run.status()).leftOver.operations).toEqual([{ position: 0, name: 'sleep' }])
  })

  test('timers due in the same millisecond fire one turn each, in the order of their calls', async () => {
    const many = procedure({ name: 'many' }, async (ctx) => {
      const order: number[] = []
      await Promise.all(
        Array.from({ length: 50 }, (_, index) => ctx.sleep('1h').then(() => order.push(index))),
      )
      return order
    })
    await using engine = await testEngine({ procedures: [many] })
    expect(await (await engine.run(many)).result()).toEqual(Array.from({ length: 50 }, (_, index) => index))
  })

  test('2,000 runs due in the same millisecond all wake up once', async () => {
    const nap = procedure({ name: 'nap' }, async (ctx) => {
      await ctx.sleep('1h')
      return ctx.now().getTime()
    })
    await using engine = await testEngine({ procedures: [nap] })
    const runs = await Promise.all(Array.from({ length: 2_000 }, () => engine.run(nap)))
    await engine.advance('59m')
    expect((await engine.list({ status: 'waiting', limit: 500 })).items).toHaveLength(500)
    const ends = await Promise.all(runs.map((run) => run.result()))
    expect(new Set(ends)).toEqual(new Set([start + hour]))
  })

  test('time stands still while a procedure computes, and follows its events', async () => {
    const clock = procedure({ name: 'clock' }, async (ctx) => {
      const times = [ctx.now(), new Date(), new Date(Date.now())]
      await ctx.step('work', () => 1)
      times.push(ctx.now())
      await ctx.sleep('90s')
      times.push(ctx.now(), new Date())
      return times.map(since)
    })
    await using engine = await testEngine({ procedures: [clock] })
    expect(await (await engine.run(clock)).result()).toEqual([0, 0, 0, 0, 90 * second, 90 * second])
  })
})

test('a client of another process sees the run wait and end', async () => {
  const nap = procedure({ name: 'nap' }, (ctx) => ctx.sleep('1h'))
  const store = memory()
  await using engine = await testEngine({ procedures: [nap], store })
  const client = createClient({ store })
  const run = await client.run(nap)
  await engine.advance('30m')
  expect((await run.status()).status).toBe('waiting')
  await engine.advance('31m')
  expect((await run.status()).status).toBe('completed')
  await client.stop()
})
