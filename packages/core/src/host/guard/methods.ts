import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers'
import promises from 'node:timers/promises'
import { guardMethod, type Rule } from './method.ts'
import { refusalOf } from './refusal.ts'
import { abortTimer, callbackTimer, iteratedTimer, promisedTimer } from './timers.ts'

/** Guards all methods of the table below. */
export function guardMethods(): () => void {
  const undoings = table.map(([target, key, rule]) => guardMethod(target, key, rule))
  // So that `import { randomUUID } from 'node:crypto'` sees the guards too.
  syncBuiltinESMExports()
  return () => {
    for (const undo of undoings.reverse()) undo()
    syncBuiltinESMExports()
  }
}

const answer = (call: string, use: string, virtual: Rule['virtual']): Rule => ({ call, use, virtual })

/** Never answered by the run: libraries keep pools of it and would hand out predictable ids outside turns. */
const entropy = (call: string): Rule => ({
  call,
  use: 'ctx.random(), ctx.uuid() or a step',
  virtual: (_run, original) => original(),
})

/** Its result depends on the outside world. */
const fetching: Rule = {
  call: 'fetch()',
  use: 'fetch() in the body of ctx.step()',
  virtual: () => {
    throw refusalOf(fetching.call, fetching.use)
  },
}

const randomUuid = answer('randomUUID()', 'ctx.uuid()', (run) => run.uuid())

const table: readonly (readonly [target: object, key: string, rule: Rule])[] = [
  [performance, 'now', answer('performance.now()', 'ctx.now()', (run) => run.now())],
  [Math, 'random', answer('Math.random()', 'ctx.random()', (run) => run.random())],

  [crypto, 'randomUUID', randomUuid],
  [crypto.webcrypto, 'randomUUID', randomUuid],

  [crypto.webcrypto, 'getRandomValues', entropy('getRandomValues()')],
  [crypto, 'randomBytes', entropy('randomBytes()')],
  [crypto, 'randomFill', entropy('randomFill()')],
  [crypto, 'randomFillSync', entropy('randomFillSync()')],
  [crypto, 'randomInt', entropy('randomInt()')],

  [globalThis, 'setTimeout', callbackTimer('setTimeout()')],
  [globalThis, 'setInterval', callbackTimer('setInterval()')],
  [globalThis, 'setImmediate', callbackTimer('setImmediate()')],
  [timers, 'setTimeout', callbackTimer('setTimeout() of node:timers')],
  [timers, 'setInterval', callbackTimer('setInterval() of node:timers')],
  [timers, 'setImmediate', callbackTimer('setImmediate() of node:timers')],
  [promises, 'setTimeout', promisedTimer('setTimeout() of node:timers/promises')],
  [promises, 'setInterval', iteratedTimer('setInterval() of node:timers/promises')],
  [promises, 'setImmediate', promisedTimer('setImmediate() of node:timers/promises')],
  [promises.scheduler, 'wait', promisedTimer('scheduler.wait() of node:timers/promises')],
  [promises.scheduler, 'yield', promisedTimer('scheduler.yield() of node:timers/promises')],
  [AbortSignal, 'timeout', abortTimer('AbortSignal.timeout()')],

  [globalThis, 'fetch', fetching],
]
