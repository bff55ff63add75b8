import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as readers from '../../src/authoring/results.ts'
import { recordFailure } from '../../src/errors/failure.ts'
import type { LogEvent } from '../../src/events/event.ts'
import { encode } from '../../src/events/payload.ts'
import { Unreadable } from '../../src/kernel/operation.ts'

function settled(payload: Uint8Array | null, failed = false): LogEvent {
  return {
    ...({
      type: 'settled',
      position: 0,
      turn: 0,
      kind: 'step',
      name: 'a',
      nth: 0,
      failed,
      tookMs: 1,
    } as const),
    ...{ payload, seq: 1, at: 0, epoch: 1, link: null },
  }
}

describe.each(Object.entries(readers))('%s', (_, read) => {
  test('throws a recorded failure unchanged', () => {
    const error = Object.assign(new Error('no luck'), { code: 'E1' })
    const payload = encode(recordFailure(error), 'failure')
    expect(() => read(settled(payload, true))).toThrow(
      expect.objectContaining({ name: 'Error', message: 'no luck', code: 'E1' }),
    )
  })

  test('reports bytes of another kind as unreadable, not as a failure of the operation', () => {
    const anyValue = fc.anything().map((value) => {
      try {
        return encode(value, 'value')
      } catch {
        return null
      }
    })
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 20 }), anyValue), fc.boolean(), (payload, failed) => {
        try {
          read(settled(payload, failed))
        } catch (error) {
          // A failure without a name was not recorded by Pawl, but can still be thrown.
          expect(error instanceof Unreadable || (failed && error instanceof Error)).toBe(true)
        }
      }),
    )
    expect(() => read(settled(null, true))).toThrow(Unreadable)
    expect(() => read(settled(Uint8Array.of(0xc1), true))).toThrow(Unreadable)
    expect(() => read(settled(Uint8Array.of(0xc1)))).toThrow(Unreadable)
  })
})
