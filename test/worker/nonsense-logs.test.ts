import { createEngine, procedure } from '@pawl/core'
import type { Claimed, Claims, RunRow, Sent, StoredEvent } from '@pawl/core/storage'
import { connectTo, type StorePort } from '@pawl/core/storage'
import { memory } from '@pawl/testing'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { keepLines } from '../semantics/support.ts'
import { meddleWith } from '../support/meddling-store.ts'
import { linkOf } from '../support/seal.ts'

const signals = { go: z.string() }
const mixed = procedure({ name: 'mixed', signals }, async (ctx) => {
  const first = await ctx.step('first', () => ({ n: 1 }))
  const { approved } = await ctx.human.approve('Go on?', { key: 'go on', params: { n: 1 } })
  const second = await ctx
    .step('failing', () => fail(), { retry: { attempts: 2, backoff: '1ms' } })
    .catch(String)
  const choice = await ctx.human.select('Which?', ['a', 'b'], {
    key: 'which',
    timeout: '1ms',
    onTimeout: { default: 'b' },
  })
  return [first, approved, second, choice, await ctx.receive('go')]
})
const neighbour = procedure({ name: 'neighbour', signals }, (ctx) => ctx.receive('go'))

function fail(): never {
  throw new Error('no luck')
}

const anyPayload = fc.oneof(
  fc.constant(null),
  fc.uint8Array({ maxLength: 8 }),
  // Of other events: their form is right, and the place is wrong.
  fc.nat(20).map((seq) => seq),
)
const anyChange = fc.record({
  seq: fc.nat(20),
  what: fc.oneof(
    fc.record({ payload: anyPayload }),
    fc.record({ failed: fc.boolean(), payload: anyPayload }),
    fc.record({
      type: fc.constantFrom('started', 'asked', 'attempted', 'settled', 'withdrawn', 'cancelled', 'ended'),
    }),
    fc.record({ position: fc.integer({ min: -1, max: 6 }) }),
    fc.record({ turn: fc.nat(6), nth: fc.nat(2) }),
  ),
})

/** A log with changes, as if Pawl itself had written it so: its hash is right. */
function change(
  log: readonly StoredEvent[],
  changes: readonly { readonly seq: number; readonly what: object }[],
): readonly StoredEvent[] {
  const changed = [...log]
  for (const { seq, what } of changes) {
    const at = seq % log.length
    const { payload } = what as { readonly payload?: unknown }
    const taken = typeof payload === 'number' ? { payload: log[payload % log.length]?.payload ?? null } : {}
    changed[at] = { ...(changed[at] as StoredEvent), ...what, ...taken }
  }
  return changed
}

test('a log of nonsense with a valid hash gets a verdict, and other runs finish', async () => {
  const inner = memory()
  const port = connectTo(inner) as StorePort
  await port.open()
  const before = await createEngine({ store: inner, procedures: [mixed, neighbour] })
  const ids = Array.from({ length: 300 }, (_, index) => `run ${index}`)
  for (const id of ids) {
    await before.run(mixed, undefined, { id })
    await before.inbox.answer({ run: id, key: 'go on' }, { approved: true }, { as: 'user:ana' })
  }
  await before.run(neighbour, undefined, { id: 'neighbour' })
  for (const id of [...ids, 'neighbour'])
    while ((await before.get(id).status()).waitingFor[0]?.name !== 'go')
      await new Promise((resolve) => setTimeout(resolve, 5))
  await before.stop()

  const logs = new Map<number, readonly StoredEvent[]>()
  const changes = fc.sample(fc.array(anyChange, { minLength: 1, maxLength: 3 }), ids.length)
  for (const [index, id] of ids.entries()) {
    const { run, head } = (await port.runs.find(id)) as RunRow
    logs.set(run, change(await port.log.load(run, 0, head), changes[index] ?? []))
  }
  const meddling = meddleWith(inner)
  meddling.always('log.load', async (go, [run, seq, limit]) => {
    const log = logs.get(run as number)
    return log === undefined ? go() : log.slice(seq as number, (seq as number) + (limit as number))
  })
  const relink = <C extends Claimed | null>(claimed: C): C => {
    const log = claimed === null ? undefined : logs.get(claimed.run)
    return log === undefined ? claimed : ({ ...claimed, link: linkOf(log) } as C)
  }
  meddling.always('claims.claim', async (go) => {
    const claims = (await go()) as Claims
    return { ...claims, runs: claims.runs.map(relink) }
  })
  meddling.always('mail.send', async (go) =>
    ((await go()) as readonly Sent[]).map((sent) =>
      'claimed' in sent ? { ...sent, claimed: relink(sent.claimed) } : sent,
    ),
  )

  const { logger, lines } = keepLines()
  const engine = await createEngine({ store: meddling.store, procedures: [mixed, neighbour], logger })
  onTestFinished(() => engine.stop())
  for (const id of ids) await engine.get(mixed, id).signal('go', 'now')
  await engine.get(neighbour, 'neighbour').signal('go', 'now')
  expect(await engine.get(neighbour, 'neighbour').result()).toBe('now')
  const statuses = new Set<string>()
  for (const id of ids) {
    let row = (await port.runs.find(id)) as RunRow
    for (
      ;
      row.owned || (row.state === 'live' && row.wakeAt !== null);
      row = (await port.runs.find(id)) as RunRow
    )
      await new Promise((resolve) => setTimeout(resolve, 5))
    statuses.add(row.state === 'live' ? String(row.mark) : String(row.state))
  }
  // Some of the changes make no difference.
  expect([...statuses].toSorted()).toEqual(expect.arrayContaining(['completed', 'quarantined', 'stuck']))
  expect(lines.filter(({ message }) => /could not be read|retrying/.test(message))).toEqual([])
  await port.close()
})
