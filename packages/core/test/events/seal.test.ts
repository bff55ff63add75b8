import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { eventTypes, type NewEvent, noPosition, operationKinds } from '../../src/events/event.ts'
import { LogHash } from '../../src/events/seal.ts'

function sha256(bytes: Uint8Array): Uint8Array {
  return createHash('sha256').update(bytes).digest()
}

function toHex(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : Buffer.from(bytes).toString('hex')
}

const anyNumber = fc.integer({ min: 0, max: 2 ** 31 - 1 })
const anyEvent: fc.Arbitrary<NewEvent> = fc.record({
  type: fc.constantFrom(...eventTypes),
  position: fc.oneof(fc.constant(noPosition), anyNumber),
  turn: anyNumber,
  kind: fc.constantFrom(null, ...operationKinds),
  name: fc.oneof(fc.string({ maxLength: 40 }), fc.string({ unit: 'binary', maxLength: 40 })),
  nth: anyNumber,
  failed: fc.boolean(),
  tookMs: fc.constant(null),
  payload: fc.option(fc.uint8Array({ maxLength: 600 })),
})

/** The hash of a log that was written without a hitch, with its seals. */
function hashOf(events: readonly NewEvent[]): readonly (string | null)[] {
  const hash = new LogHash(sha256)
  const seals = events.map((event) => toHex(hash.add(event)))
  return [...seals, toHex(hash.link())]
}

describe('the hash of a log', () => {
  test('computes the same hash as in every earlier version', () => {
    const names = ['started', 'charge', 'größe', '📦 pack', 'x'.repeat(300)]
    const hashes = hashOf(
      Array.from({ length: 130 }, (_, i) => ({
        type: eventTypes[i % 7] ?? 'started',
        position: i % 9 === 0 ? noPosition : i,
        turn: i * 3,
        kind: i % 5 === 0 ? null : 'step',
        name: names[i % 5] ?? '',
        nth: i % 4,
        failed: i % 3 === 0,
        tookMs: i,
        payload: i % 4 === 0 ? null : new Uint8Array(i * 5).fill(i),
      })),
    )
    expect(hashes.filter((seal) => seal !== null)).toEqual([
      '4b8fa2a797ee522c30c42530860fc3416cc0e402e50133ff7790da1e3763e8f4',
      '83fe8b13bc0197f4605b4a21bc2cbab97d74d3f0ba367070d4d2fbebf78e026b',
      '2b908290bbc19124e42971274fde3fe86c361d102544cb7883335914b3f76247',
    ])
  })

  test('forgets events that were dropped, whatever they were', () => {
    const unit = fc.array(anyEvent, { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(fc.array(fc.record({ unit, isKept: fc.boolean() }), { maxLength: 60 }), (units) => {
        const hash = new LogHash(sha256)
        const seals: (string | null)[] = []
        for (const { unit, isKept } of units) {
          const ends = unit.map((event) => toHex(hash.add(event)))
          if (isKept) seals.push(...ends)
          if (isKept) hash.keep()
          else hash.drop()
        }
        const kept = units.flatMap(({ unit, isKept }) => (isKept ? unit : []))
        expect([...seals, toHex(hash.link())]).toEqual(hashOf(kept))
      }),
    )
  })

  test('changes if anything that it covers changes', () => {
    fc.assert(
      fc.property(anyEvent, anyEvent, (a, b) => {
        const same = (key: keyof NewEvent) =>
          key === 'payload' ? toHex(a.payload) === toHex(b.payload) : a[key] === b[key]
        const covered = ['type', 'position', 'turn', 'kind', 'name', 'nth', 'failed', 'payload'] as const
        // A name that is no text has no bytes of its own.
        fc.pre([a, b].every(({ name }) => !/\p{Surrogate}/u.test(name)))
        expect(hashOf([a]).at(-1) === hashOf([b]).at(-1)).toBe(covered.every(same))
      }),
    )
    const event: NewEvent = {
      ...{ type: 'settled', position: 3, turn: 2, kind: 'step', name: 'charge', nth: 0 },
      ...{ failed: false, tookMs: 1, payload: new Uint8Array([1]) },
    }
    const others: Partial<NewEvent>[] = [
      { type: 'attempted' },
      { position: 4 },
      { turn: 3 },
      { kind: 'llm' },
      { kind: null },
      { name: 'charges' },
      { name: 'chargé' },
      { nth: 1 },
      { failed: true },
      { payload: null },
      { payload: new Uint8Array(0) },
      { payload: new Uint8Array([2]) },
    ]
    const hashes = [event, ...others.map((other) => ({ ...event, ...other }))].map((one) =>
      hashOf([one]).at(-1),
    )
    expect(new Set(hashes).size).toBe(hashes.length)
  })
})
