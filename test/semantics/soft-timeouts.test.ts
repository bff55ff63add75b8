import { setTimeout as pause } from 'node:timers/promises'
import {
  createEngine,
  type Engine,
  type EngineOptions,
  type Logger,
  procedure,
  type RunHandle,
} from '@pawl/core'
import { memory, testEngine } from '@pawl/testing'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { keepLines } from './support.ts'

/** A logger whose next warning can be waited for. */
function watchWarnings() {
  const { logger, lines } = keepLines()
  let onWarning: () => void = () => {}
  const warn: Logger['warn'] = (message, fields) => {
    logger.warn(message, fields)
    onWarning()
  }
  const warnings = (): readonly string[] =>
    lines.filter(({ level }) => level === 'warn').map(({ message }) => message)
  const warned = async (count: number): Promise<void> => {
    while (warnings().length < count)
      await new Promise<void>((resolve) => {
        onWarning = resolve
      })
  }
  return { logger: { ...logger, warn }, lines, warnings, warned }
}

/** Timers that fire when the test says so. Put in place before an engine starts, so that its guard finds them. */
let set: (() => void)[] = []
const { setTimeout: nativeSetTimeout, clearTimeout: nativeClearTimeout } = globalThis
function fireAll(): void {
  for (const callback of set.splice(0)) callback()
}
beforeEach(() => {
  set = []
  globalThis.setTimeout = ((callback: () => void) => {
    set.push(callback)
    return callback
  }) as unknown as typeof setTimeout
  globalThis.clearTimeout = ((callback: () => void) => {
    set = set.filter((one) => one !== callback)
  }) as unknown as typeof clearTimeout
})
afterEach(() => {
  globalThis.setTimeout = nativeSetTimeout
  globalThis.clearTimeout = nativeClearTimeout
})

const signals = { go: z.void(), hint: z.void() }
/** Waits for a person, softly: what comes of the timer is in no log, and no ctx call follows. */
const soft = procedure({ name: 'soft', signals }, async (ctx) => {
  const approval = ctx.human.approve('Ship?')
  let answer: unknown = 'nothing'
  void Promise.race([approval, new Promise((resolve) => setTimeout(resolve, 30_000))]).then((first) => {
    answer = first === undefined ? 'too late' : 'answered'
  })
  await ctx.receive('go')
  return answer
})
/** Its timer is named: what fired before it has been looked at by then. */
const last = procedure({ name: 'last', signals }, async (ctx) => {
  setTimeout(() => {}, 1)
  await ctx.receive('go')
})

function sentence(name: string, api: string): RegExp {
  return new RegExp(
    `^Procedure "${name}" \\(.*soft-timeouts\\.test\\.ts:\\d+:\\d+\\): a timer that ${api.replaceAll(/[.()/]/g, '\\$&')} set in a turn has fired\\. The log does not record it, so a replay may behave differently\\. Use ctx\\.sleep\\(\\), or the timeout of an operation\\. Timers of loggers and caches are harmless\\.$`,
  )
}

describe('a timer of the host that a procedure sets', () => {
  test('a host timer that decides a race is logged when it fires, once per procedure and place', async () => {
    const { logger, warnings, warned, lines } = watchWarnings()
    const engine = await start({ store: memory(), procedures: [soft, last], logger })
    const runs = [await engine.run(soft, undefined, { id: 'soft:1' }), await engine.run(soft)]
    for (const { id } of runs) await engine.inbox.next({ run: id })
    expect(warnings()).toEqual([])
    fireAll()
    await warned(1)
    await loaded(await engine.run(last))
    fireAll()
    await warned(2)
    for (const run of runs) {
      await run.signal('go')
      expect(await run.result()).toBe('too late')
    }
    expect(warnings()).toEqual([
      expect.stringMatching(sentence('soft', 'setTimeout()')),
      expect.stringMatching(sentence('last', 'setTimeout()')),
      expect.stringContaining('has ended while its question "approve"'),
    ])
    expect(lines.find(({ level }) => level === 'warn')?.fields).toEqual({ run: 'soft:1' })
  })

  test('a host timer set in a replay is logged', async () => {
    const store = memory()
    const first = watchWarnings()
    const before = await start({ store, procedures: [soft], logger: first.logger })
    const run = await before.run(soft, undefined, { id: 'soft:1' })
    const ask = await before.inbox.next({ run: run.id })
    fireAll()
    await first.warned(1)
    // From here on this life would return 'too late'.
    await before.inbox.answer(ask.id, { approved: true }, { as: 'user:ana' })
    await loaded(run)
    await before.stop()

    const { logger, warnings, warned } = watchWarnings()
    const after = await start({ store, procedures: [soft], logger })
    const again = after.get(soft, 'soft:1')
    await again.signal('hint')
    await loaded(again)
    fireAll()
    await warned(1)
    expect(warnings()).toEqual([expect.stringMatching(sentence('soft', 'setTimeout()'))])
    await again.signal('go')
    expect(await again.result()).toBe('answered')
  })

  test('a host timer is not logged once it is cleared or its run has ended', async () => {
    const { logger, warnings, warned } = watchWarnings()
    const clearing = procedure({ name: 'clearing', signals }, async (ctx) => {
      clearTimeout(setTimeout(() => {}, 1))
      await ctx.receive('go')
    })
    const ending = procedure({ name: 'ending' }, async () => void setTimeout(() => {}, 1))
    const engine = await start({ store: memory(), procedures: [clearing, ending, last], logger })
    await loaded(await engine.run(clearing))
    await (await engine.run(ending)).result()
    await loaded(await engine.run(last))
    expect(set).toHaveLength(2)
    fireAll()
    await warned(1)
    expect(warnings()).toEqual([expect.stringMatching(sentence('last', 'setTimeout()'))])
  })

  test('a host timer of a run that its worker has lost is not logged', async () => {
    const { logger, warnings, warned } = watchWarnings()
    await using engine = await testEngine({ procedures: [soft, last], logger, humans: silent })
    await engine.run(soft)
    await engine.inbox.next()
    await engine.advance('1s')
    await engine.crash()
    await loaded(await engine.run(last))
    // That of the first life, and that of the other run.
    expect(set).toHaveLength(2)
    fireAll()
    await warned(1)
    expect(warnings()).toEqual([expect.stringMatching(sentence('last', 'setTimeout()'))])
  })

  test('a host timer that is awaited before a ctx call is reported by that error alone', async () => {
    const { logger, warnings, warned } = watchWarnings()
    const waiting = procedure({ name: 'waiting' }, async (ctx) => {
      await Promise.race([new Promise<void>((resolve) => setTimeout(resolve, 1)), ctx.human.approve('?')])
      await ctx.sleep('1h')
    })
    const engine = await start({ store: memory(), procedures: [waiting, last], logger })
    await loaded(await engine.run(waiting))
    fireAll()
    await warned(1)
    await loaded(await engine.run(last))
    fireAll()
    await warned(2)
    expect(warnings()).toEqual([
      expect.stringContaining('it used setTimeout()'),
      expect.stringMatching(sentence('last', 'setTimeout()')),
    ])
  })

  test.each<readonly [api: string, set: () => unknown]>([
    ['setTimeout()', () => setTimeout(() => {}, 1)],
    ['setTimeout() of node:timers/promises', () => pause(1)],
    ['AbortSignal.timeout()', () => AbortSignal.timeout(1)],
  ])("is refused when it is set, with determinism 'error': %s", async (api, set) => {
    const strict = procedure({ name: 'strict' }, async () => {
      try {
        set()
        return 'it was not refused'
      } catch (error) {
        return (error as Error).message
      }
    })
    await using engine = await testEngine({ procedures: [strict], determinism: 'error' })
    expect(await (await engine.run(strict)).result()).toBe(
      `A procedure called ${api}, whose result can differ on replay. The call was blocked. Use ctx.sleep() instead.`,
    )
  })

  test("a host timer is ignored with determinism 'off' and in the body of a step", async () => {
    const { logger, warnings, warned } = watchWarnings()
    const stepping = procedure({ name: 'stepping', signals }, async (ctx) => {
      await ctx.step('set', () => void setTimeout(() => {}, 1))
      await ctx.receive('go')
    })
    await using off = await testEngine({ procedures: [soft], logger, determinism: 'off' })
    await using engine = await testEngine({ procedures: [stepping, last], logger })
    await loaded(await off.run(soft))
    for (const one of [stepping, last]) await loaded(await engine.run(one))
    expect(set).toHaveLength(3)
    fireAll()
    await warned(1)
    expect(warnings()).toEqual([expect.stringMatching(sentence('last', 'setTimeout()'))])
  })
})

/** An engine that does not outlive its test. */
async function start(options: EngineOptions): Promise<Engine> {
  const engine = await createEngine(options)
  onTestFinished(() => engine.stop())
  return engine
}

const silent = [{ ask: /./, answer: 'silence' as const }]

/** Until the run waits: its timers are set. */
async function loaded(run: Pick<RunHandle<unknown>, 'status'>): Promise<void> {
  while ((await run.status()).status !== 'waiting') await new Promise((resolve) => setImmediate(resolve))
}
