import { AsyncLocalStorage, createHook } from 'node:async_hooks'
import inspector from 'node:inspector'
import { setFlagsFromString } from 'node:v8'
import { createContext, runInContext, runInNewContext } from 'node:vm'
import { describe, expect, test, vi } from 'vitest'
import { inEveryOrder, outcomesOf } from './support/everywhere.ts'
import { Log } from './support/log.ts'
import { live, type Procedure, replay, Trial, turnLoop } from './support/trial.ts'

/** Branches of different lengths, which make the order of everything visible. */
const procedure: Procedure = async (ctx) => {
  const walk = async (name: string) => {
    for (let i = 0; i < 2; i++) {
      for (let hops = name.charCodeAt(0) % 4; hops > 0; hops--) await null
      if (i === 0) await new Promise<void>((resolve) => process.nextTick(resolve))
      ctx.note(await ctx.step(name + i))
    }
    return name
  }
  const first = await Promise.race(['a', 'b', 'c', 'd'].map(walk))
  return [first, await Promise.any(['e', 'f'].map(walk)), await Promise.all(['g', 'h'].map(walk))]
}

describe('the order of events is the same', () => {
  const surroundings: { readonly [what: string]: () => () => void } = {
    'with async hooks of all sorts': () => {
      const nothing = () => {}
      const hooks = {
        init: nothing,
        before: nothing,
        after: nothing,
        destroy: nothing,
        promiseResolve: nothing,
      }
      const hook = createHook(hooks).enable()
      return () => hook.disable()
    },
    'with a hook on creation alone': () => {
      const hook = createHook({ init() {} }).enable()
      return () => hook.disable()
    },
    'inside a storage of the application': () => {
      const storage = new AsyncLocalStorage()
      storage.enterWith('request')
      return () => storage.disable()
    },
    'with listeners for unhandled errors': () => {
      const listener = () => {}
      process.on('unhandledRejection', listener).on('uncaughtException', listener)
      return () => process.off('unhandledRejection', listener).off('uncaughtException', listener)
    },
    'under the debugger': () => {
      const session = new inspector.Session()
      session.connect()
      session.post('Runtime.enable')
      session.post('Debugger.enable')
      session.post('Debugger.setAsyncCallStackDepth', { maxDepth: 32 })
      return () => session.disconnect()
    },
    'under fake timers that came later': () => {
      vi.useFakeTimers({
        toFake: ['setTimeout', 'setInterval', 'setImmediate', 'Date', 'performance', 'queueMicrotask'],
      })
      return () => void vi.useRealTimers()
    },
  }

  test.each(Object.entries(surroundings))('keeps the order of events %s', async (_, enter) => {
    const plain = await live(procedure)
    const leave = enter()
    try {
      const replayed = await replay(procedure, plain.log.events)
      expect(replayed.account).toEqual(plain.trial.account)
      const log = new Log()
      const trial = new Trial(procedure)
      await trial.deliver(log.events)
      while (trial.decision?.state === 'waiting') await trial.deliver([log.settle(trial.pending[0] as never)])
      expect(trial.account).toEqual(plain.trial.account)
    } finally {
      leave()
    }
  })
})

describe('a storage of the application', () => {
  test('hides the storage of the application in turns, whichever code drives the run', async () => {
    const requests = new AsyncLocalStorage<string>()
    const noteRequest: Procedure = async (ctx) => {
      ctx.note(String(requests.getStore()))
      for (const name of ['a', 'b']) {
        await ctx.step(name)
        ctx.note(String(requests.getStore()))
      }
    }
    const log = new Log()
    const trial = new Trial(noteRequest)
    await requests.run('request 1', () => trial.deliver(log.events))
    await requests.run('request 2', () => trial.deliver([log.settle(trial.find('a'))]))
    await trial.deliver([log.settle(trial.find('b'))])
    expect(trial.notes).toEqual(['undefined', 'undefined', 'undefined'])
    expect((await requests.run('request 3', () => replay(noteRequest, log.events))).account).toEqual(
      trial.account,
    )
  })

  test("keeps the procedure's own storage through all its turns", async () => {
    const names = new AsyncLocalStorage<string>()
    const { trial } = await live((ctx) =>
      Promise.all(
        ['a', 'b'].map((name) =>
          names.run(name, async () => {
            await ctx.step(name)
            await null
            await ctx.step(`${name} again`)
            return names.getStore()
          }),
        ),
      ),
    )
    expect(trial.account.outcome).toBe('completed: ["a","b"]; left ')
  })
})

describe('promises of another realm', () => {
  test('races promises of another realm like native ones', async () => {
    const Other = runInContext('Promise', createContext({})) as PromiseConstructor
    const lives = await inEveryOrder((ctx) => {
      const begin = (name: string) => Other.resolve(1).then(() => ctx.step(name))
      return Other.race([begin('a'), ctx.step('b'), begin('c').then(() => ctx.step('d'))])
    })
    expect(outcomesOf(lives).length).toBeGreaterThan(2)
  })

  test('detects promises with their own queues, which never resume', async () => {
    const context = createContext({}, { microtaskMode: 'afterEvaluate' })
    const Other = runInContext('Promise', context) as PromiseConstructor
    const trial = new Trial(async (ctx) => {
      await Other.resolve(1).then(() => 1)
      return ctx.step('a')
    })
    await trial.deliver(new Log().events)
    expect(trial.account.outcome).toBe('foreign await after the start: it has no pending operation')
  })
})

describe('the garbage collector', () => {
  test('detects a run that is moved by the garbage collector', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const trial = await new Promise<Trial>((resolve) => {
      const trial: Trial = new Trial(
        async (ctx) => {
          const registry = new FinalizationRegistry(() => void ctx.step('from the collector'))
          registry.register({}, 'an unreachable object')
          registries.push(registry)
          await ctx.step('a')
        },
        { onForeign: () => setImmediate(resolve, trial) },
      )
      void trial.deliver(new Log().events).then(async () => {
        for (let i = 0; i < 100 && trial.foreignMoves === 0; i++) {
          collect()
          await turnLoop()
        }
      })
    })
    expect(trial.execution.decide()).toMatchObject({
      what: 'step "from the collector" was issued outside any turn',
    })
  })
})

const registries: unknown[] = []
