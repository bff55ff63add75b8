import { createClient, createEngine, procedure } from '@pawl/core'
import { type Claimed, type Claims, connectTo, type StorePort } from '@pawl/core/storage'
import { memory } from '@pawl/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { keepLines } from '../semantics/support.ts'
import { startBareEngine, withoutTimers } from '../support/bare-engine.ts'
import { meddleWith } from '../support/meddling-store.ts'

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
/** More turns of the event loop than anything here takes that waits for nobody. */
const manyTurns = async (): Promise<void> => {
  for (let turns = 0; turns < 50; turns++) await nextTurn()
}
const until = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await nextTurn()
}

interface Gate {
  readonly opened: Promise<void>
  readonly open: () => void
}
function createGate(): Gate {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

/** An engine on a store that can be meddled with, and a client of another process. */
async function start(procedures: Parameters<typeof createEngine>[0]['procedures']) {
  const store = memory()
  const meddling = meddleWith(store)
  const client = createClient({ store })
  const { logger, lines } = keepLines()
  const engine = await createEngine({ store: meddling.store, procedures, lease: '1s', logger })
  onTestFinished(async () => {
    await engine.stop({ within: '0s' })
    await client.stop()
  })
  return { engine, client, meddling, lines }
}

/** A run whose step is at work until it is told to end. */
async function startStep() {
  const end = createGate()
  let isAtWork = false
  const working = procedure({ name: 'working', signals: { news: z.void() } }, (ctx) =>
    ctx.step('effect', () => {
      isAtWork = true
      return end.opened
    }),
  )
  const started = await start([working])
  const run = await started.engine.run(working)
  await until(() => isAtWork)
  /** Has the run read its messages, which takes until the gate is open. */
  const holdMail = async (): Promise<Gate> => {
    const gate = createGate()
    let isReading = false
    started.meddling.next('mail.list', async (go) => {
      isReading = true
      await gate.opened
      return go()
    })
    await started.client.get(working, run.id).signal('news')
    await until(() => isReading)
    return gate
  }
  const isWritten = async (): Promise<boolean> => (await started.client.log(run.id)).replay_index === 1
  return { ...started, endStep: end.open, holdMail, isWritten }
}

/** Well before a stop gives up that may take 20 s. */
async function expectToEnd(stopped: Promise<void>): Promise<void> {
  const beganAt = performance.now()
  await stopped
  expect(performance.now() - beganAt).toBeLessThan(10_000)
}

describe('stopping writes what has finished', () => {
  test('stopping writes finished results while the run reads its messages', async () => {
    const { engine, endStep, holdMail, isWritten } = await startStep()
    const mail = await holdMail()
    endStep()
    const stopped = engine.stop({ within: '20s' })
    await manyTurns()
    mail.open()
    await stopped
    expect(await isWritten()).toBe(true)
  })

  test('stopping writes finished results while the run advances', async () => {
    const [quick, effect] = [createGate(), createGate()]
    let atWork = 0
    const moving = procedure({ name: 'moving' }, async (ctx) => {
      const body = (gate: Gate) => () => {
        atWork++
        return gate.opened
      }
      const finished = ctx.step('effect', body(effect))
      await ctx.step('quick', body(quick))
      // In a turn: the body ends, and its slot is given back, before the run can write anything.
      effect.open()
      await finished
    })
    const { engine, client } = await start([moving])
    const run = await engine.run(moving)
    await until(() => atWork === 2)
    const stopped = engine.stop({ within: '20s' })
    quick.open()
    await stopped
    expect((await client.log(run.id)).execution_log).toMatchObject([
      { name: 'effect', status: 'done' },
      { name: 'quick', status: 'done' },
    ])
  })
})

describe('stopping with something that cannot be written', () => {
  test('stopping does not wait for the operations that a returned run leaves behind', async () => {
    const end = createGate()
    let ended = false
    const output = {
      '~standard': { version: 1, vendor: 'slow', validate: () => new Promise<never>(() => {}) },
    }
    const returning = procedure({ name: 'returning', output: output as never }, async (ctx) => {
      void ctx.step('left', () => end.opened).then(() => {})
      await ctx.step('quick', async () => {})
      return 1 as never
    })
    const { engine, client } = await start([returning])
    const run = await engine.run(returning)
    while ((await client.log(run.id)).execution_log.length === 0) await nextTurn()
    end.open()
    void end.opened.then(() => {
      ended = true
    })
    await until(() => ended)
    const before = performance.now()
    await engine.stop({ within: '20s' })
    expect(performance.now() - before).toBeLessThan(10_000)
  })

  test('stopping ends at its timeout while the store refuses all writes', async () => {
    const { engine, meddling, endStep, isWritten } = await startStep()
    meddling.always('log.commit', () => Promise.reject(new Error('the disk is full')))
    endStep()
    await expectToEnd(engine.stop({ within: '100ms' }))
    expect(await isWritten()).toBe(false)
  })

  test('stopping ends at its timeout while the store does not return the messages of the run', async () => {
    const { engine, endStep, holdMail, isWritten } = await startStep()
    await holdMail()
    endStep()
    await expectToEnd(engine.stop({ within: '100ms' }))
    expect(await isWritten()).toBe(false)
  })

  test('stopping ends once the worker is declared dead, and leaves the run to others', async () => {
    const { engine, meddling, lines, endStep, holdMail } = await startStep()
    await holdMail()
    endStep()
    const stopped = engine.stop({ within: '20s' })
    await manyTurns()
    meddling.next('workers.beat', async () => false)
    await expectToEnd(stopped)
    expect(lines.map(({ message }) => message)).toContainEqual(expect.stringContaining('Lease expired'))
  })
})

test('runs claimed after the stop are not executed', async () => {
  const idle = procedure({ name: 'idle' }, async () => 1)
  const { engine, client, meddling, lines } = await start([idle])
  const answer = createGate()
  let isClaimed = false
  meddling.always('claims.claim', async (go) => {
    const claims = (await go()) as Claims
    if (claims.runs.length > 0) {
      isClaimed = true
      await answer.opened
    }
    return claims
  })
  await client.run(idle)
  await until(() => isClaimed)
  await engine.stop({ within: '0s' })
  const logged = lines.length
  const calls: string[] = []
  for (const method of ['log.load', 'mail.list', 'mail.counters', 'log.commit', 'runs.mark'] as const)
    meddling.always(method, (go) => {
      calls.push(method)
      return go()
    })
  answer.open()
  await manyTurns()
  expect(calls).toEqual([])
  expect(lines.slice(logged)).toEqual([])
})

test('callers that wait for a store that cannot be opened get an error, and stop listening', async () => {
  const meddling = meddleWith(memory())
  const used: string[] = []
  meddling.always('open', () => Promise.reject(new Error('the server is away')))
  meddling.always('watch', (go) => {
    used.push('watch')
    return go()
  })
  const client = createClient({ store: meddling.store })
  await expect(client.get('a').result()).rejects.toThrow('the server is away')
  await expect(client.inbox.next()).rejects.toThrow('the server is away')
  expect(used).toEqual([])
  await client.stop()
})

test('a client whose store could not be opened can be closed', async () => {
  const meddling = meddleWith(memory())
  const closed: string[] = []
  meddling.next('open', () => Promise.reject(new Error('the server is away')))
  meddling.always('close', (go) => {
    closed.push('closed')
    return go()
  })
  const client = createClient({ store: meddling.store })
  await expect(client.list()).rejects.toThrow('the server is away')
  expect(closed).toEqual([])
  await client.stop()
  expect(closed).toEqual(['closed'])
})

test('a stop that does not wait for a write ignores its outcome', async () => {
  const counting = procedure({ name: 'counting' }, (ctx) => ctx.step('count', () => 1))
  const { engine, meddling, lines } = await start([counting])
  const cut = createGate()
  let isWriting = false
  meddling.always('log.commit', async () => {
    isWriting = true
    await cut.opened
    throw new Error('the store is closed')
  })
  await engine.run(counting)
  await until(() => isWriting)
  await engine.stop({ within: '1ms' })
  cut.open()
  await manyTurns()
  expect(lines.filter(({ message }) => message.includes('retrying'))).toEqual([])
})

test('runs without running steps are released at once, however long other steps take', async () => {
  const end = createGate()
  const atWork = new Set<string>()
  const slow = procedure({ name: 'slow' }, (ctx) =>
    ctx.step('slow', () => {
      atWork.add('slow')
      return end.opened
    }),
  )
  const first = createGate()
  const chain = procedure({ name: 'chain' }, async (ctx) => {
    await ctx.step('one', () => {
      atWork.add('one')
      return first.opened
    })
    return ctx.step('two', () => 'done')
  })
  const short = procedure({ name: 'short' }, (ctx) => ctx.step('short', () => 'done'))
  const store = memory()
  const procedures = [slow, chain, short]
  const leaver = await createEngine({ store, procedures, lease: '1h', concurrency: 2 })
  await leaver.run(slow)
  const running = await leaver.run(chain)
  await until(() => atWork.size === 2)
  const queued = await leaver.run(short)
  // The test fails long before the stop or the lease is over.
  const stopped = leaver.stop({ within: '1h' })
  const heir = await createEngine({ store, procedures, lease: '1h' })
  expect(await heir.get(queued.id).result()).toBe('done')
  first.open()
  expect(await heir.get(running.id).result()).toBe('done')
  end.open()
  await stopped
  await heir.stop()
})

test('waiting runs are released at once, however long the steps of other runs take', async () => {
  const end = createGate()
  let isAtWork = false
  const slow = procedure({ name: 'slow' }, (ctx) =>
    ctx.step('slow', () => {
      isAtWork = true
      return end.opened
    }),
  )
  const nap = procedure({ name: 'nap' }, async (ctx) => {
    await ctx.sleep('900ms')
    return 'awake'
  })
  const store = memory()
  const leaver = await startBareEngine({
    ...{ store, procedures: [slow, nap], keep: { runs: 100, bytes: 1e6 } },
    ...{ logger: keepLines().logger, clock: withoutTimers },
  })
  const napping = await leaver.client.run(nap)
  await until(() => leaver.worker.isAtRest)
  expect(leaver.worker.local.holds(napping.id)).toBe(true)
  await leaver.client.run(slow)
  await until(() => isAtWork)
  const stopped = leaver.worker.stop(3_600_000)
  const heir = await createEngine({ store, procedures: [slow, nap], lease: '1h' })
  expect(await heir.get(napping.id).result()).toBe('awake')
  end.open()
  await stopped
  await heir.stop()
  await leaver.stop()
})

test('a store that cannot be written does not delay a stop without running steps', async () => {
  const sleeping = procedure({ name: 'sleeping' }, (ctx) => ctx.sleep('900ms'))
  const { engine, meddling } = await start([sleeping])
  await engine.run(sleeping)
  await manyTurns()
  meddling.always('log.commit', async () => {
    throw new Error('the disk is full')
  })
  await engine.stop({ within: '1h' })
})

test('a suspect that is released without new events stays a suspect', async () => {
  const store = memory()
  const port = connectTo(store) as StorePort
  await port.open()
  const client = createClient({ store })
  const procedures = [{ name: 'suspect', versions: [1] }]
  let isTaken = false
  const hog = procedure({ name: 'hog' }, (ctx) =>
    ctx.step('hog', () => {
      isTaken = true
      return end.opened
    }),
  )
  const suspect = procedure({ name: 'suspect' }, (ctx) => ctx.step('kill', () => {}))
  const end = createGate()
  await client.run(suspect, undefined, { id: 'a' })
  for (let deaths = 0; deaths < 3; deaths++) {
    const worker = await port.workers.register({ name: 'doomed', leaseMs: -1 })
    await port.claims.claim({ worker, procedures }, 1)
    await port.workers.sweep()
  }
  const meddling = meddleWith(store)
  let isClaimed = false
  meddling.always('claims.claim', async (go) => {
    // Not before the one place is taken.
    if (!isTaken) return { runs: [], at: await port.now(), nextDueAt: null, leavesSuspects: false }
    return go()
  })
  meddling.always('claims.take', async (go) => {
    const taken = (await go()) as readonly Claimed[]
    isClaimed ||= taken.some(({ id }) => id === 'a')
    return taken
  })
  const engine = await createEngine({
    ...{ store: meddling.store, procedures: [hog, suspect], concurrency: 1, lease: '1m' },
    logger: keepLines().logger,
  })
  await engine.run(hog)
  while (!isClaimed) await new Promise((resolve) => setTimeout(resolve, 5))
  const stopped = engine.stop({ within: '1m' })
  await manyTurns()
  end.open()
  await stopped
  const worker = await port.workers.register({ name: 'next', leaseMs: 60_000 })
  const { runs } = await port.claims.claim({ worker, procedures }, 1)
  expect(runs).toMatchObject([{ id: 'a', tries: 3, head: 1 }])
  await client.stop()
  await port.close()
})
