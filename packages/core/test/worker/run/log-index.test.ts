import { expect, test } from 'vitest'
import type { LogEvent } from '../../../src/events/event.ts'
import { encodeRecord } from '../../../src/events/payload.ts'
import { LogIndex } from '../../../src/worker/run/log-index.ts'

test('names a child once that was retried with its parent and is called again', () => {
  const notes = new LogIndex({ retried: [{ id: 'c', position: 3 }] })
  const created: LogEvent = {
    ...{ seq: 1, type: 'created', at: 0, epoch: 1, position: 3, kind: 'child', name: 'c' },
    ...{
      turn: 1,
      nth: 0,
      failed: false,
      tookMs: null,
      payload: encodeRecord({ id: 'c' }, 'child'),
      link: null,
    },
  }
  notes.add([created])
  expect(notes.children).toEqual(['c'])
})
