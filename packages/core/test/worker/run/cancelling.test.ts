import { describe, expect, test } from 'vitest'
import type { LogEvent } from '../../../src/events/event.ts'
import { decode } from '../../../src/events/payload.ts'
import { cancelledEvent, endWithoutCode, recordCancel } from '../../../src/worker/run/cancelling.ts'
import { LogIndex } from '../../../src/worker/run/log-index.ts'

const mailbox = { oldest: () => undefined, signals: [] }
const cancel = recordCancel({ reason: 'wrong code' })

function rollbackOf(log: readonly LogEvent[], draft: typeof cancel | null, mayHaveBegun = false): unknown {
  const notes = new LogIndex()
  notes.add(log)
  const { info } = endWithoutCode({ notes, mayHaveBegun }, draft, 7).compose(mailbox)
  return info?.rollback
}

describe('a cancelled run that ends without its code', () => {
  test('says that undos did not run if a worker with its code had recorded the cancel, though no operation is in the log', () => {
    const log = [{ ...cancelledEvent(cancel), at: 5 }]
    expect(decode(log[0]?.payload ?? null)).toEqual({ reason: 'wrong code' })
    expect(rollbackOf(log, null)).toMatchObject({
      reason: 'wrong code',
      skipped: expect.stringContaining('ended without its code'),
    })
  })

  test('says that undos did not run if a worker had begun it, though nothing is in the log', () => {
    expect(rollbackOf([], cancel, true)).toMatchObject({
      skipped: expect.stringContaining('ended without its code'),
    })
  })

  test('says nothing of undos if it had not begun', () => {
    expect(rollbackOf([], cancel)).toBeUndefined()
  })
})
