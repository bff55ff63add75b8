import { lookup } from 'node:dns/promises'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { MessageChannel } from 'node:worker_threads'
import { gzip } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { ForeignResourcesError, refuseForeignResources } from '../support/foreign-resources.ts'
import { live, type Procedure } from './support/trial.ts'
import { waysToAwait } from './support/ways-to-await.ts'

/** Begins something in a turn behind the first operation, and awaits it nowhere. */
const beginning =
  (begin: () => unknown): Procedure =>
  async (ctx) => {
    await ctx.step('a')
    begin()
    return ctx.step('b')
  }

async function foundIn(procedure: Procedure): Promise<readonly string[]> {
  try {
    await refuseForeignResources(() => live(procedure))
    return []
  } catch (error) {
    if (!(error instanceof ForeignResourcesError)) throw error
    return [...new Set(error.resources.map(({ type }) => type))]
  }
}

describe('detects a resource created in a turn, awaited or not', () => {
  const foreign: { readonly [what: string]: () => unknown } = {
    'a timer': () => setTimeout(() => {}, 1),
    'an immediate': () => setImmediate(() => {}),
    'a timer as a promise': () => wait(1),
    'a signal that times out': () => AbortSignal.timeout(5),
    'a file': () => readFile(import.meta.filename),
    'a digest': () => crypto.subtle.digest('SHA-256', new Uint8Array(3)),
    'a compression': () => gzip('x', () => {}),
    'a channel': () => new MessageChannel().port1.close(),
    'a name to resolve': () => lookup('localhost').catch(() => {}),
    'a socket': () => connect(1, '127.0.0.1').on('error', () => {}),
  }

  test.each(Object.entries(foreign))('detects %s created in a turn', async (_, begin) => {
    expect(await foundIn(beginning(begin))).not.toEqual([])
  })

  test('reports the run, the type and the place of a resource', async () => {
    const procedure = beginning(() => setTimeout(() => {}, 1))
    const error = await refuseForeignResources(() => live(procedure)).catch((error: Error) => error)
    expect(error).toMatchObject({
      resources: [{ run: expect.stringMatching(/^trial \d+$/), type: 'Timeout' }],
      message: expect.stringMatching(
        /^trial \d+ created a Timeout in its turn, at .*foreign-resources\.test\.ts:\d+:\d+$/,
      ),
    })
  })
})

describe('detects no resource', () => {
  const fine: { readonly [what: string]: () => unknown } = {
    'ticks and microtasks': () => process.nextTick(() => queueMicrotask(() => {})),
    'a clone': () => structuredClone({ a: 1 }),
    'an abort': () => new AbortController().abort(),
    'a file read at once': () => readFileSync(import.meta.filename),
  }
  test.each(Object.entries(fine))('does not report %s', async (_, begin) => {
    expect(await foundIn(beginning(begin))).toEqual([])
  })

  test.each(Object.entries(waysToAwait))(
    'finds no resource in a procedure that awaits its operations: %s',
    async (_, procedure) => {
      expect(await foundIn(procedure)).toEqual([])
    },
  )

  test('ignores resources created outside turns', async () => {
    const result = await refuseForeignResources(async () => {
      await wait(1)
      return live((ctx) => ctx.step('a'))
    })
    expect(result.trial.account.outcome).toBe('completed: "a!"; left ')
  })
})
