import fc from 'fast-check'
import { expect, test } from 'vitest'
import { AskIds, askAddressOf, type NamedAsk } from '../../src/asks/ask-id.ts'
import { sha256 } from '../../src/host/sha256.ts'
import { askSlotOf } from '../../src/ports/ask-slot.ts'

function idsOf(key: string): AskIds {
  const ids = new AskIds(sha256)
  ids.learn(key)
  return ids
}

const ids = idsOf('4c9f')
const runKeys = fc.oneof(
  fc.integer({ min: 0, max: 2 ** 30 }),
  fc.maxSafeNat().map((n) => n % 2 ** 44),
)
const positions = fc.nat(2 ** 20 - 1)

test('reads each id back as the run key and position it was written for', () => {
  fc.assert(
    fc.property(runKeys, positions, (runKey, position) => {
      const id = ids.idOf({ runKey, run: 'r', position })
      expect(id).toMatch(/^[0-9a-f]{16}$/)
      expect(ids.read(id)).toEqual({ runKey, position })
    }),
    { numRuns: 2_000 },
  )
})

test('names an ask that is asked again by the id of the first one, and how often it was asked', () => {
  fc.assert(
    fc.property(runKeys, positions, fc.integer({ min: 1, max: 1_024 }), (runKey, position, asking) => {
      const slot = askSlotOf({ position, asking })
      expect(slot).toBeLessThan(2 ** 31)
      const [first, again] = [position, slot].map((one) => ({ runKey, run: 'r', position: one }))
      expect(ids.idOf(again as NamedAsk)).toBe(`${ids.idOf(first as NamedAsk)}-${asking + 1}`)
      expect(ids.read(ids.idOf(again as NamedAsk))).toEqual({ runKey, position: slot })
      expect(askAddressOf(again as NamedAsk)).toBe(`r/${position}-${asking + 1}`)
      expect(ids.read(`r/${position}-${asking + 1}`)).toEqual({ run: 'r', position: slot })
    }),
  )
})

test('reads no id that is never written', () => {
  for (const end of ['-0', '-1', '-02', '-1026', '-', '-2-2'])
    for (const id of ['f3437442e63dec26', 'r/3']) expect(ids.read(id + end)).toBeNull()
})

test('gives different ids to 100,000 asks, which share no digits by their order', () => {
  const written = new Set<string>()
  for (let runKey = 1; runKey <= 10_000; runKey++)
    for (let position = 0; position < 10; position++) written.add(ids.idOf({ runKey, run: 'r', position }))
  expect(written.size).toBe(100_000)
  // Of the first two digits each pair occurs about 390 times.
  const starts = new Map<string, number>()
  for (const id of written) starts.set(id.slice(0, 2), (starts.get(id.slice(0, 2)) ?? 0) + 1)
  expect(starts.size).toBe(256)
  expect(Math.max(...starts.values())).toBeLessThan(600)
})

test('writes other ids with the key of another store, and the same with the same key', () => {
  const ask = { runKey: 7, run: 'r', position: 3 }
  expect(idsOf('4c9f').idOf(ask)).toBe(ids.idOf(ask))
  expect(idsOf('other').idOf(ask)).not.toBe(ids.idOf(ask))
})

test('never changes: mails and links contain ids', () => {
  expect(ids.idOf({ runKey: 1, run: 'r', position: 0 })).toBe('f3437442e63dec26')
  expect(ids.idOf({ runKey: 2 ** 44 - 1, run: 'r', position: 2 ** 20 - 1 })).toBe('57716909b904ea3d')
})

test('falls back to the address of an ask that 16 digits cannot hold', () => {
  for (const ask of [
    { runKey: 2 ** 44, run: 'r', position: 3 },
    { runKey: 1, run: 'r', position: 2 ** 20 },
    { runKey: Number.NaN, run: 'r', position: 3 },
  ]) {
    const id = ids.idOf(ask)
    expect(id).toBe(`r/${ask.position}`)
    expect(ids.read(id)).toEqual({ run: 'r', position: ask.position })
    expect(ids.describe(ask)).toBe(id)
  }
})

test('describes an ask by its id and its address', () => {
  const ask = { runKey: 5, run: 'refund:A-1', position: 1 }
  expect(ids.describe(ask)).toBe(`${ids.idOf(ask)} (refund:A-1/1)`)
})

test.each([
  '',
  '7',
  '/3',
  'a/-1',
  'a/b',
  'A16D9F78DEEEE059',
  'a16d9f78deeee05',
  'a16d9f78deeee0599',
  'a\n/3',
])('reads %j as no ask', (text) => {
  expect(ids.read(text)).toBeNull()
})

test('reads an address of a run whose id has 16 hexadecimal digits and slashes', () => {
  expect(ids.read('a16d9f78deeee059/3')).toEqual({ run: 'a16d9f78deeee059', position: 3 })
  expect(ids.read('a/b/3')).toEqual({ run: 'a/b', position: 3 })
})
