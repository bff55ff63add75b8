import crypto, { createECDH, createHash, generateKeyPairSync, generateKeySync, sign } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { MessageChannel } from 'node:worker_threads'
import { gzip, gzipSync } from 'node:zlib'
import { type Ctx, procedure } from '@pawl/core'
import { testEngine } from '@pawl/testing'
import { afterAll, describe, expect, test } from 'vitest'

// What docs/guides/determinism.md says replay does not see. Should the guard learn to see something of it, the page changes.

// Taken before any engine starts.
const { random } = Math
const now = performance.now.bind(performance)
const Now = Date
class Later extends Date {}
const { setTimeout: setTimer } = globalThis

let beats = 0
const beat = setInterval(() => beats++, 1)
afterAll(() => clearInterval(beat))
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const own = new URL(import.meta.url)

const logger = { debug() {}, info() {}, warn() {}, error() {} }

/** Resolves once the clock shows another time, and the timer in the background has fired. */
async function letTimePass(): Promise<void> {
  const [at, before] = [Now.now() + 1, beats]
  while (Now.now() <= at || beats === before) await new Promise((resolve) => setTimer(resolve, 1))
}

/** What the value is in the turn and in the replays of it, and what becomes of the run. */
async function replay(
  take: () => unknown,
): Promise<{ readonly values: unknown[]; readonly outcome: unknown }> {
  const values: unknown[] = []
  const taking = procedure({ name: 'taking' }, async (ctx) => {
    values.push(await take())
    await ctx.step('one', letTimePass)
    await ctx.step('two', letTimePass)
    return 'done'
  })
  await using engine = await testEngine({ procedures: [taking], replay: 'always', logger })
  const run = await engine.run(taking)
  const outcome = await run.result().catch((error: { readonly code: unknown }) => error.code)
  return { values, outcome }
}

const differs: readonly (readonly [what: string, take: () => unknown])[] = [
  ['Math.random taken before the engine started', () => random()],
  ['performance.now taken before the engine started', () => now()],
  ['Date taken before the engine started', () => Now.now()],
  ['a class that extends Date', () => new Later().getTime()],
  ['lastModified of a new File', () => new File([], 'a').lastModified],
  ['timeStamp of an event', () => new Event('a').timeStamp],
  ['performance.mark', () => performance.mark('a').startTime],
  ['process.hrtime', () => process.hrtime.bigint()],
  ['process.uptime', () => process.uptime()],
  ['Intl without an argument', () => new Intl.DateTimeFormat('en', { fractionalSecondDigits: 3 }).format()],
  ['generateKeySync', () => generateKeySync('aes', { length: 128 }).export().toString('hex')],
  [
    'generateKeyPairSync',
    () => generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }),
  ],
  ['keys of createECDH', () => createECDH('secp256k1').generateKeys('hex')],
  ['an ECDSA signature', () => sign('sha256', Buffer.from('a'), privateKey).toString('hex')],
  ['a timer in the background', () => beats],
]

describe('has another value at each replay, without an error:', () => {
  test.each(differs)('%s', async (_, take) => {
    const { values, outcome } = await replay(take)
    expect(outcome).toBe('done')
    expect(values).toHaveLength(3)
    expect(new Set(values).size).toBe(3)
  })
})

const stuck: readonly (readonly [what: string, take: () => unknown])[] = [
  ['a digest of crypto.subtle', () => crypto.subtle.digest('SHA-256', Buffer.from('a'))],
  [
    'a key of crypto.subtle',
    () => crypto.subtle.generateKey({ name: 'AES-GCM', length: 128 }, true, ['encrypt']),
  ],
  ['scrypt that calls back', () => promisify(crypto.scrypt)('a', 'b', 16)],
  ['gzip that calls back', () => promisify(gzip)('a')],
  ['CompressionStream', () => text(new Response('a').body!.pipeThrough(new CompressionStream('gzip')))],
  ['a stream of a file', () => text(createReadStream(own))],
  ['readFile', () => readFile(own)],
  ['a MessageChannel', () => receive()],
]

function receive(): Promise<unknown> {
  const { port1, port2 } = new MessageChannel()
  port2.postMessage('a')
  return new Promise((resolve) => {
    port1.once('message', (message) => {
      port1.close()
      resolve(message)
    })
  })
}

describe('ends outside the turn, and gets the run stuck:', () => {
  test.each(stuck)('%s', async (_, take) => {
    expect((await replay(take)).outcome).toBe('foreign-await')
  })
})

const same: readonly (readonly [what: string, take: () => unknown])[] = [
  ['createHash', () => createHash('sha256').update('a').digest('hex')],
  ['gzipSync', () => gzipSync('a').toString('hex')],
  ['a stream of an array', () => text(Readable.from(['a', 'b']))],
  ['the text of a Response', () => new Response('a').text()],
  ['the JSON of a Response', async () => JSON.stringify(await new Response('{"a":1}').json())],
  ['lastModified that is given', () => new File([], 'a', { lastModified: Date.now() }).lastModified],
]

describe('is the same at each replay:', () => {
  test.each(same)('%s', async (_, take) => {
    const { values, outcome } = await replay(take)
    expect(outcome).toBe('done')
    expect(values).toHaveLength(3)
    expect(new Set(values).size).toBe(1)
  })
})

describe('a restart', () => {
  type Take = (ctx: Ctx) => Promise<unknown>

  /** The value before and after the process died while the run slept. */
  async function restart(take: Take): Promise<readonly unknown[]> {
    const values: unknown[] = []
    const taking = procedure({ name: 'taking' }, async (ctx) => {
      values.push(await take(ctx))
      await ctx.sleep('1d')
      return 'done'
    })
    await using engine = await testEngine({ procedures: [taking], logger })
    const run = await engine.run(taking)
    await engine.advance('1h')
    await engine.crash()
    const outcome = await run.result().catch((error: { readonly code: unknown }) => error.code)
    // A run may get stuck before what it awaits outside of a turn has come.
    await expect.poll(() => values.length).toBeGreaterThanOrEqual(2)
    return [...values.slice(0, 2), outcome]
  }

  /** A replay takes a hundredth of it. */
  const lateMs = 300

  const assignByStep: Take = async (ctx) => {
    let value: unknown
    await ctx.step('load', () => {
      value = 1
    })
    return value
  }
  const assignByTimer: Take = async (ctx) => {
    let isLate = false
    const fired = new Promise<void>((resolve) => {
      setTimeout(() => {
        isLate = true
        resolve()
      }, lateMs)
    })
    await ctx.step('wait', () => fired)
    return isLate
  }
  const abortByTimeout: Take = async (ctx) => {
    const signal = AbortSignal.timeout(lateMs)
    await ctx.step('wait', async () => {
      while (!signal.aborted) await new Promise((resolve) => setTimer(resolve, 1))
    })
    return signal.aborted
  }
  const digestBesideStep: Take = async (ctx) => {
    const digest = crypto.subtle.digest('SHA-256', Buffer.from('a'))
    await Promise.all([ctx.step('a', () => digest.then(letTimePass)), digest])
    return 1
  }

  test.each<[string, Take, readonly unknown[]]>([
    ['loses what the body of a step assigned', assignByStep, [1, undefined, 'done']],
    ['loses what a timer assigned', assignByTimer, [true, false, 'done']],
    ['loses that AbortSignal.timeout has fired', abortByTimeout, [true, false, 'done']],
    ['gets a run stuck that awaited a digest beside a step', digestBesideStep, [1, 1, 'foreign-await']],
  ])('%s', async (_, take, expected) => {
    expect(await restart(take)).toEqual(expected)
  })
})
