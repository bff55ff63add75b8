import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createChance } from '../../../src/base/prng.ts'
import { type LogRange, selectNewest, selectOldest } from '../../../src/client/log/select.ts'
import type { EventType, LogEvent } from '../../../src/events/event.ts'

test('selects the same entries as a full read, with every event that they depend on', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: 2 ** 31 }),
      fc.integer({ min: 1, max: 700 }),
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 60 }),
      fc.option(fc.integer({ min: 0, max: 700 }), { nil: undefined }),
      async (seed, operations, width, limit, border) => {
        const log = makeLog(seed, operations, width)
        const before = { before: border, limit }
        expect(project(await newest(log, before), before)).toEqual(project(log, before))
        const after = { after: border ?? -1, limit }
        expect(project(await selectOldest(pagesOf(log, 0, log.length), after, 0), after)).toEqual(
          project(log, after),
        )
      },
    ),
    { numRuns: 300 },
  )
})

test.each([
  ['in sequence', 1],
  ['forty at once', 40],
])('reads no more of 20,000 events than of 2,000 for the newest page: %s', async (_, width) => {
  const read = async (operations: number): Promise<number> => {
    const counts: number[] = []
    await newest(makeLog(7, operations, width), { limit: 50 }, counts)
    return counts.reduce((sum, count) => sum + count, 0)
  }
  expect(await read(20_000)).toBeLessThanOrEqual(4 * 128)
  expect(await read(20_000)).toBeLessThanOrEqual(2 * (await read(2_000)))
})

test('finds an operation that settled long after its neighbours', async () => {
  // Position 0 stays open while 1,000 others settle, one after another.
  const log = [event(0, 'started', -1, 0), event(1, 'asked', 0, 0)]
  for (let position = 1; position <= 1_000; position++)
    log.push(event(log.length, 'settled', position, position - 1))
  log.push(event(log.length, 'settled', 0, 0))
  const range = { before: 3, limit: 3 }
  expect((await newest(log, range)).map(({ position }) => position)).toEqual([1, 2, 0])
  expect((await newest(log, { limit: 1 })).map(({ position }) => position)).toEqual([1_000])
})

async function newest(
  log: readonly LogEvent[],
  range: LogRange,
  counts: number[] = [],
): Promise<readonly LogEvent[]> {
  const readSpan = (first: number, end: number) => {
    counts.push(end - first)
    return pagesOf(log, first, end)
  }
  return selectNewest(readSpan, { head: log.length, base: 0, firstPosition: 0 }, range, [])
}

async function* pagesOf(log: readonly LogEvent[], first: number, end: number) {
  for (let at = first; at < end; at += 64) yield log.slice(at, Math.min(end, at + 64))
}

/** What the entries of a range are made of: the event that settled each, or else the first that tells of it. */
function project(
  events: readonly LogEvent[],
  { before = Number.POSITIVE_INFINITY, after, limit = Number.POSITIVE_INFINITY }: LogRange,
) {
  const seqs = new Map<number, number>()
  for (const { position, type, seq } of events)
    if (position >= 0 && (type === 'settled' || !seqs.has(position))) seqs.set(position, seq)
  const wanted = [...seqs]
    .filter(([position]) => position < before && position > (after ?? -1))
    .sort(([a], [b]) => a - b)
  return after === undefined ? wanted.slice(-limit) : wanted.slice(0, limit)
}

/** A log as a run writes it: up to `width` operations are open at once, and each result begins a turn that may issue more. */
function makeLog(seed: number, operations: number, width: number): readonly LogEvent[] {
  const bytes = new Uint8Array(16)
  new DataView(bytes.buffer).setUint32(0, seed)
  const chance = createChance(bytes)
  const random = (below: number) => Math.floor(chance.random() * below)
  const log = [event(0, 'started', -1, 0)]
  const open: { readonly position: number; readonly turn: number; isAsked: boolean }[] = []
  let issued = 0
  for (let turn = 0; issued < operations; ) {
    const count = Math.min(operations - issued, open.length === 0 ? 1 + random(width) : random(3))
    for (let i = 0; i < count && open.length < width; i++)
      open.push({ position: issued++, turn, isAsked: random(10) === 0 })
    for (const one of open)
      if (one.isAsked) {
        log.push(event(log.length, 'asked', one.position, one.turn))
        one.isAsked = false
      } else if (random(20) === 0) log.push(event(log.length, 'attempted', one.position, one.turn))
    const [settled] = open.splice(random(open.length), 1)
    if (settled === undefined) continue
    log.push(event(log.length, 'settled', settled.position, settled.turn))
    turn++
  }
  return log
}

function event(seq: number, type: EventType, position: number, turn: number): LogEvent {
  const kind = position < 0 ? null : ('step' as const)
  const rest = { name: 'x', nth: 0, failed: false, tookMs: null, payload: null, link: null, at: 0, epoch: 1 }
  return { ...rest, seq, type, position, turn, kind }
}
