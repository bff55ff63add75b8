import { describe, expect, test } from 'vitest'
import { type BodyOwner, currentBody, runBody } from '../../src/host/body.ts'
import { runProgram } from './run-program.ts'
import { runToEnd } from './run-to-end.ts'
import { duringTurn, ownerOf } from './turn-support.ts'

const owner: BodyOwner = { describe: 'step "load" of run "A-1"', onUnhandled: () => {} }

describe('a step body', () => {
  test('finds the owner of a step body, and of no other code', async () => {
    const seen: unknown[] = []
    const result = await runToEnd(owner, async () => {
      seen.push(currentBody()?.describe)
      await new Promise((resolve) => setTimeout(resolve, 1))
      seen.push(currentBody()?.describe)
      return 'loaded'
    })
    expect(result).toBe('loaded')
    expect(seen).toEqual([owner.describe, owner.describe])
    expect(currentBody()).toBeUndefined()
    await new Promise((resolve) => setImmediate(resolve))
    expect(currentBody()).toBeUndefined()
  })

  test('starts a lazy thenable once, inside the body', async () => {
    const seen: unknown[] = []
    const query: PromiseLike<string> = {
      // As query builders are.
      then(onFulfilled) {
        seen.push(currentBody()?.describe)
        return Promise.resolve('rows').then(onFulfilled)
      },
    }
    expect(await runToEnd(owner, () => query)).toBe('rows')
    expect(seen).toEqual([owner.describe])
  })

  test('ends a body without a promise when it returns', () => {
    const ends: unknown[] = []
    const end = {
      onDone: (value: unknown) => ends.push(value),
      onFailed: (error: unknown) => ends.push(error),
    }
    runBody({ ...owner, ...end, run: () => 'loaded' })
    runBody({ ...owner, ...end, run: () => ({ then: 'a value' }) })
    expect(ends).toEqual(['loaded', { then: 'a value' }])
  })

  test('does not own code that runs after a body has ended', async () => {
    for (const run of [() => 1, async () => 1, () => Promise.reject(new Error('no'))]) {
      const seen = await new Promise((resolve) => {
        const onEnd = () => setImmediate(() => resolve(currentBody()))
        runBody({ ...owner, run, onDone: onEnd, onFailed: onEnd })
      })
      expect(seen).toBeUndefined()
    }
  })

  test('resolves a promise that has its own `then`', async () => {
    const own = {
      then() {
        throw new Error('own then')
      },
    }
    expect(await runToEnd(owner, () => Object.assign(Promise.resolve(1), own))).toBe(1)
  })

  test('rejects with the error that a body throws', async () => {
    const error = new Error('no connection')
    await expect(
      runToEnd(owner, () => {
        throw error
      }),
    ).rejects.toBe(error)
    await expect(runToEnd(owner, () => Promise.reject(error))).rejects.toBe(error)
  })

  test('rejects a body that starts in a turn', async () => {
    const refused = duringTurn(ownerOf('A-2'), () => runToEnd(owner, () => 'never'))
    await expect(refused).rejects.toThrow('step "load" of run "A-1" was started in a turn of run "A-2"')
  })
})

describe('work that a body leaves behind', () => {
  const reported = {
    detached: ['unhandledRejection detached'],
    rejection: ['unhandledRejection rejection'],
    late: ['unhandledRejection late'],
    timer: ['uncaughtException timer'],
    timerAfterAwait: ['uncaughtException timerAfterAwait'],
    tick: ['uncaughtException tick'],
    emitter: ['uncaughtException emitter'],
    stream: ["uncaughtException ENOENT: no such file or directory, open '/nonexistent'"],
    callback: ['uncaughtException callback'],
  }

  test('reports a failure of leftover work to the owner of the body, without harming the process', async () => {
    const { code, stdout, stderr } = await runProgram('strays')
    expect(stderr).toBe('')
    expect(JSON.parse(stdout)).toEqual(reported)
    expect(code).toBe(0)
  })
})
