import { describe, expect, test } from 'vitest'
import { readCancel } from '../../src/authoring/cancel.ts'
import { type LogEvent, noPosition } from '../../src/events/event.ts'
import { encodeRecord } from '../../src/events/payload.ts'
import type { CancelledPayload } from '../../src/events/payloads.ts'
import { Unreadable } from '../../src/kernel/operation.ts'

function cancelled(payload: Uint8Array | null): LogEvent {
  return {
    ...{ type: 'cancelled', position: noPosition, turn: 0, kind: null, name: '', nth: 0, failed: false },
    ...{ tookMs: null, payload, seq: 1, at: 0, epoch: 1, link: null },
  }
}
const hexOf = (payload: CancelledPayload): string =>
  Buffer.from(encodeRecord(payload, 'cancel')).toString('hex')

// Logs have these bytes. A change of them is one of the log format.
const golden: readonly (readonly [CancelledPayload, string])[] = [
  [{}, '80'],
  [
    { reason: 'customer called', by: 'user:ana' },
    '82a6726561736f6eaf637573746f6d65722063616c6c6564a26279a8757365723a616e61',
  ],
  [{ reason: 'timed out' }, '81a6726561736f6ea974696d6564206f7574'],
  [{ by: 'user:ana', forced: true }, '82a26279a8757365723a616e61a6666f72636564c3'],
]

describe('a recorded cancel', () => {
  test.each(golden)('encodes and reads the cancel %j', (payload, bytes) => {
    expect(hexOf(payload)).toBe(bytes)
    const { forced, error } = readCancel(cancelled(Buffer.from(bytes, 'hex')))
    expect(forced).toBe(payload.forced === true)
    expect(error()).toMatchObject({ code: 'cancelled', details: { reason: payload.reason } })
    expect(error()).not.toBe(error())
  })

  test.each([
    ['no bytes', null],
    ['bytes of no payload', Buffer.from('c1', 'hex')],
    ['a reason that is no text', encodeRecord({ reason: 1 }, 'cancel')],
    ['a forced that is not true', encodeRecord({ forced: false }, 'cancel')],
  ])('rejects a cancel with %s as unreadable', (_, payload) => {
    expect(() => readCancel(cancelled(payload))).toThrow(Unreadable)
  })
})
