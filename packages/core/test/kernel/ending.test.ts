import { describe, expect, test } from 'vitest'
import type { LogEvent } from '../../src/events/event.ts'
import { Log } from './support/log.ts'
import { describePending, inOrder, live, type Procedure, replay, Trial } from './support/trial.ts'

const mainAndAudit: Procedure = (ctx) => {
  void ctx.step('audit')
  return ctx.step('main')
}

describe('an end', () => {
  test('ends as the procedure does, by return or by throw', async () => {
    expect((await live(() => 'at once')).trial.account.outcome).toBe('completed: "at once"; left ')
    const thrown = await live(() => {
      throw new Error('at once')
    })
    expect(thrown.trial.account.outcome).toBe('failed: Error: at once; left ')
    const rejected = await live(async (ctx) => {
      await ctx.step('a')
      throw new Error('later')
    })
    expect(rejected.trial.account.outcome).toBe('failed: Error: later; left ')
  })

  test('lists pending operations at the end', async () => {
    const { trial } = await live(mainAndAudit, inOrder('main'))
    expect(trial.decision).toMatchObject({ state: 'completed', left: [{ position: 0 }] })
  })

  test('starts no operation that was issued in the turn of the end', async () => {
    const log = new Log()
    const reported: string[] = []
    const trial = new Trial(async (ctx) => {
      await ctx.step('a')
      void ctx.step('before')
      process.nextTick(() => void ctx.step('after'))
      return 'done'
    })
    for (const event of [() => log.events, () => [log.settle(trial.find('a'))]]) {
      const decision = await trial.deliver(event())
      if (decision.state === 'waiting') reported.push(...decision.issued.map(describePending))
    }
    expect(reported).toEqual(['0 step a 0.0'])
    expect(trial.account.outcome).toBe('completed: "done"; left before,after')
    expect(trial.foreignMoves).toBe(0)
  })

  test('delivers no event after the end', async () => {
    const { trial, log } = await live(mainAndAudit, inOrder('main'))
    const notes: string[] = []
    const replayed = new Trial(async (ctx) => {
      void ctx.step('audit').then(() => notes.push('delivered'))
      return ctx.step('main')
    })
    log.settle(trial.find('audit'))
    expect((await replayed.deliver(log.events)).state).toBe('completed')
    expect(notes).toEqual([])
  })
})

describe('the log after the end', () => {
  const both = async (): Promise<Log> => {
    const { trial, log } = await live(mainAndAudit, inOrder('main'))
    log.attempt(trial.find('audit'))
    log.settle(trial.find('audit'))
    return log
  }

  test('accepts results of earlier operations and the same end after the end', async () => {
    const log = await both()
    expect((await replay(mainAndAudit, log.events)).account.outcome).toBe('completed: "main!"; left audit')
    log.end()
    expect((await replay(mainAndAudit, log.events)).account.outcome).toBe('completed: "main!"; left audit')
  })

  test('accepts a log that is cut anywhere', async () => {
    const log = await both()
    for (const { seq } of log.events.slice(1)) {
      const { outcome } = (await replay(mainAndAudit, log.events.slice(0, seq + 1))).account
      expect(outcome).toBe('completed: "main!"; left audit')
    }
  })

  test('accepts events of operations that have swapped positions', async () => {
    const log = await both()
    const swapped: Procedure = async (ctx) => {
      const main = ctx.step('main')
      void ctx.step('audit')
      return main
    }
    expect((await replay(swapped, log.events)).account.outcome).toBe('completed: "main!"; left audit')
  })

  const refused: { readonly [what: string]: (log: Log) => LogEvent } = {
    'another end': (log) => log.end(true),
    'a position that was never issued': (log) => ({ ...(log.events.at(-1) as LogEvent), position: 2 }),
    'another operation at a position': (log) => ({ ...(log.events[2] as LogEvent), name: 'other' }),
    'an operation of another turn': (log) => ({ ...(log.events[2] as LogEvent), turn: 1 }),
  }
  test.each(Object.entries(refused))('rejects %s after the end', async (_, next) => {
    const { trial, log } = await live(mainAndAudit, inOrder('main'))
    log.attempt(trial.find('audit'))
    const replayed = await replay(mainAndAudit, [...log.events, next(log)])
    expect(replayed.decision).toMatchObject({ state: 'nondeterminism', asked: 'its completion' })
  })

  test('rejects events of operations issued in the turn of the end', async () => {
    const { log } = await live(async (ctx) => {
      await ctx.step('a')
      return ctx.step('b')
    })
    const replayed = await replay(async (ctx) => {
      await ctx.step('a')
      void ctx.step('b')
    }, log.events)
    expect(replayed.account.outcome).toBe('nondeterminism at 1: step "b" in turn 1, not its completion')
  })

  test('rejects an end where the procedure continues', async () => {
    const { log } = await live((ctx) => ctx.step('a'))
    log.end()
    const goesOn = await replay(async (ctx) => [await ctx.step('a'), await ctx.sleep('b')], log.events)
    expect(goesOn.account.outcome).toBe('nondeterminism at 1: its completion, not timer "b" in turn 1')
    const waits = await replay((ctx) => ctx.step('a').then(() => new Promise(() => {})), log.events)
    expect(waits.account.outcome).toBe('foreign await after a: it has not ended and has no pending operation')
  })
})
