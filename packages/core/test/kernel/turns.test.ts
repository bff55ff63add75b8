import { EventEmitter, once } from 'node:events'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { eventTypes, type LogEvent } from '../../src/events/event.ts'
import { turns } from '../../src/host/turn.ts'
import { inEveryOrder, outcomesOf } from './support/everywhere.ts'
import { Log } from './support/log.ts'
import { inOrder, live, type Procedure, replay, Trial } from './support/trial.ts'

const tick = () => new Promise((resolve) => process.nextTick(resolve))

/** All of them use ticks, by themselves or through a library, in one arm of a race. */
const racing: { readonly [name: string]: Procedure } = {
  'two ticks': (ctx) => {
    const approved = async () => {
      await ctx.step('a')
      await tick()
      await tick()
      return 'approved'
    }
    return Promise.race([approved(), ctx.sleep('b').then(() => 'timed out')])
  },
  'a stream': async (ctx) => {
    const approved = async () => {
      const value = await ctx.step('a')
      for await (const chunk of Readable.from([value, 'end'])) ctx.note(chunk)
      await ctx.step('sum')
      return 'approved'
    }
    const winner = await Promise.race([approved(), ctx.sleep('b').then(() => 'timed out')])
    return [winner, await ctx.step('end')]
  },
  'two streams': (ctx) => {
    const read = async (name: string) => {
      const value = await ctx.step(name)
      let sum = ''
      for await (const chunk of Readable.from([value, 'x', 'y'])) sum += chunk
      return sum
    }
    return Promise.race([read('a'), ctx.step('b'), read('c')])
  },
  'a pipeline': (ctx) => {
    const pass = async (name: string) => {
      const value = await ctx.step(name)
      const chunks: string[] = []
      await pipeline(
        Readable.from([value]),
        async function* (source) {
          for await (const chunk of source) yield `${chunk}?`
        },
        async (source) => {
          for await (const chunk of source) chunks.push(chunk)
        },
      )
      await ctx.step(`piped ${name}`)
      return chunks
    }
    return Promise.race([pass('a'), pass('b'), ctx.step('c')])
  },
  'an emitter': async (ctx) => {
    const emitter = new EventEmitter()
    const emitted = once(emitter, 'event')
    void ctx.step('a').then(() => process.nextTick(() => emitter.emit('event', 'emitted')))
    const winner = await Promise.race([emitted, ctx.step('b').then(() => ['not emitted'])])
    await ctx.step('end')
    return winner
  },
}

describe('one event per turn', () => {
  test.each(Object.entries(racing))(
    'replays the same winner with %s in one arm of a race',
    async (_, procedure) => {
      const lives = await inEveryOrder(procedure)
      expect(outcomesOf(lives).length).toBeGreaterThan(1)
    },
  )

  test('lets the first event of a batch win, however long its continuation is', async () => {
    const procedure = racing['two ticks'] as Procedure
    const { log } = await live(procedure, inOrder('a'))
    const [started, first] = log.events as [LogEvent, LogEvent]
    const second: LogEvent = { ...first, seq: 2, position: 1, kind: 'timer', name: 'b' }
    expect((await replay(procedure, [started, first, second])).account.outcome).toBe(
      'completed: "approved"; left b',
    )
    expect((await replay(procedure, [started, second, first])).account.outcome).toBe(
      'completed: "timed out"; left a',
    )
  })

  test('ends a turn only when the queues are empty', async () => {
    const log = new Log()
    const procedure: Procedure = async (ctx) => {
      await ctx.step('a')
      for (let i = 0; i < 1000; i++) await (i % 2 === 0 ? tick() : null)
      ctx.note('a is over')
      await ctx.step('b')
    }
    const trial = new Trial(async (ctx) => {
      void ctx.step('c').then(() => ctx.note('c'))
      return procedure(ctx)
    })
    await trial.deliver(log.events)
    await trial.deliver([log.settle(trial.find('a')), log.settle(trial.find('c'))])
    expect(trial.notes).toEqual(['a is over', 'c'])
    expect(turns.current).toBeNull()
  })

  test('returns the time of the event that began the turn, which never goes back', async () => {
    const log = new Log()
    const times: number[] = []
    const trial = new Trial(async (ctx) => {
      times.push(ctx.now())
      for (const name of ['a', 'b', 'c']) {
        await ctx.step(name)
        await tick()
        times.push(ctx.now())
      }
    })
    const started = log.events[0]?.at ?? 0
    await trial.deliver(log.events)
    await trial.deliver([log.settle(trial.find('a'))])
    await trial.deliver([{ ...log.settle(trial.find('b')), at: started - 5000 }])
    await trial.deliver([log.settle(trial.find('c'))])
    expect(times.map((time) => time - started)).toEqual([0, 1000, 1000, 3000])
  })
})

describe('a log', () => {
  const procedure: Procedure = async (ctx) => [await ctx.step('a'), await ctx.step('b'), await ctx.step('c')]

  test('accepts a log in any pieces', async () => {
    const { trial, log } = await live(procedure)
    const pieces = new Trial(procedure)
    pieces.execution.enqueue(log.events.slice(0, 1))
    pieces.execution.enqueue(log.events.slice(1, 3))
    expect(pieces.execution.outstanding).toBe(3)
    await pieces.deliver(log.events.slice(3))
    expect(pieces.account).toEqual(trial.account)
  })

  test('reports a second start as damage', async () => {
    const log = new Log()
    const [started] = log.events as [LogEvent]
    const trial = new Trial(procedure)
    await trial.deliver(log.events)
    const decision = await trial.deliver([{ ...started, seq: 1 }, log.settle(trial.find('a'))])
    expect(decision).toEqual({ state: 'damaged', what: 'its event 1 is a second "started" event' })
    expect(trial.issued).toHaveLength(1)
  })

  test('reports a second start after the end as damage', async () => {
    const log = new Log()
    const trial = new Trial(async () => 'done')
    const again = { ...(log.events[0] as LogEvent), seq: 1 }
    expect(await trial.deliver([...log.events, again])).toMatchObject({ state: 'damaged' })
  })

  test('reports a log without a start as damage', async () => {
    const trial = new Trial(procedure)
    const decision = await trial.deliver([new Log().end()])
    expect(decision).toEqual({ state: 'damaged', what: 'its first event is not "started"' })
    expect(trial.issued).toEqual([])
  })

  test('returns a decision for any log, and never throws', async () => {
    const { log } = await live(procedure)
    const anyEvent = fc.record({
      ...{
        type: fc.constantFrom(...eventTypes),
        kind: fc.constantFrom(null, 'step' as const, 'timer' as const),
      },
      ...{ position: fc.integer({ min: -1, max: 4 }), turn: fc.integer({ min: 0, max: 4 }) },
      ...{ name: fc.constantFrom('a', 'b', 'c', ''), nth: fc.integer({ min: 0, max: 2 }) },
      ...{ failed: fc.boolean(), payload: fc.option(fc.uint8Array({ maxLength: 3 })) },
    })
    const anyChange = fc.record({ at: fc.nat(log.events.length), event: anyEvent, isInserted: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(fc.array(anyChange, { minLength: 1, maxLength: 4 }), async (changes) => {
        const events: LogEvent[] = [...log.events]
        for (const { at, event, isInserted } of changes)
          events.splice(at, isInserted ? 0 : 1, { ...(log.events[0] as LogEvent), ...event })
        const numbered = events.map((event, seq) => ({ ...event, seq }))
        expect((await new Trial(procedure).deliver(numbered)).state).toBeTypeOf('string')
      }),
      { numRuns: 100 },
    )
  })
})

describe('events that settle nothing', () => {
  const procedure: Procedure = async (ctx) => {
    const first = ctx.step('a').then(() => ctx.step('b'))
    const second = ctx.sleep('c').then(() => ctx.note(`c at ${ctx.now()}`))
    await Promise.all([first, second])
    return ctx.now()
  }

  test('begins no turn and does not advance the clock', async () => {
    const log = new Log()
    const trial = new Trial(procedure)
    await trial.deliver(log.events)
    await trial.deliver([log.attempt(trial.find('a')), log.settle(trial.find('a'))])
    await trial.deliver([log.attempt(trial.find('b')), log.attempt(trial.find('c'))])
    await trial.deliver([
      log.settle(trial.find('c')),
      log.attempt(trial.find('b')),
      log.settle(trial.find('b')),
    ])
    expect(trial.decision?.state).toBe('completed')

    const compacted = log.events.filter(({ type }) => type !== 'attempted')
    expect((await replay(procedure, compacted)).account).toEqual(trial.account)
    expect((await replay(procedure, log.events)).account).toEqual(trial.account)
  })

  test('keeps a run waiting', async () => {
    const log = new Log()
    const trial = new Trial(procedure)
    const first = await trial.deliver(log.events)
    expect(first).toMatchObject({ state: 'waiting', issued: [{ position: 0 }, { position: 1 }] })
    const second = await trial.deliver([log.attempt(trial.find('a')), log.attempt(trial.find('c'))])
    expect(second).toEqual({ state: 'waiting', issued: [], closed: [] })
  })
})
