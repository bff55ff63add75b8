import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { definitionOf, type ProcedureDefinition, procedure } from '../../../src/authoring/procedure.ts'
import { WrittenLater } from '../../../src/events/codec.ts'
import type { EventType, LogEvent } from '../../../src/events/event.ts'
import { encode } from '../../../src/events/payload.ts'
import { readStart, type Start } from '../../../src/worker/run/start.ts'

const input = z.object({ n: z.coerce.number().default(5) })
const definition = definitionOf(procedure({ name: 'p', input }, async () => 1)) as ProcedureDefinition

function event(seq: number, type: EventType, payload: unknown): LogEvent {
  return {
    ...{ type, position: -1, turn: 0, kind: null, name: '', nth: 0, failed: false, tookMs: null },
    ...{ payload: encode(payload, 'payload'), seq, at: 0, epoch: 1, link: null },
  }
}

const started = (changes: object): LogEvent =>
  event(0, 'started', {
    ...{
      format: 1,
      flags: [],
      id: 'a',
      version: 1,
      input: { n: '7' },
      checked: false,
      seed: new Uint8Array(16),
    },
    ...{ by: null, tags: [], ...changes },
  })

describe('the start of a run', () => {
  test.each([
    ['was validated by the starter', { checked: true }, undefined, { n: '7' }, false],
    ['is validated before the first turn', { flags: ['accepted'] }, undefined, { n: 7 }, true],
    [
      'was recorded after validation',
      { flags: ['accepted'] },
      event(1, 'accepted', { n: 8 }),
      { n: 8 },
      false,
    ],
    [
      'was used as given, without a schema',
      { flags: ['accepted'] },
      event(1, 'settled', 1),
      { n: '7' },
      false,
    ],
    ['was used before validated inputs were recorded', {}, event(1, 'settled', 1), { n: 7 }, false],
  ])('reads a start whose input %s', async (_, changes, second, expected, isToRecord) => {
    const start = (await readStart(definition, started(changes), second)) as Start
    expect(start.input()).toEqual(expected)
    expect(start.accepted !== null).toBe(isToRecord)
  })

  test.each([
    ['another format', { format: 2 }],
    ['an unknown flag', { flags: ['accepted', 'odd'] }],
  ])('leaves a start to a later version if it has %s', async (_, changes) => {
    await expect(readStart(definition, started(changes), undefined)).rejects.toThrow(WrittenLater)
  })
})
