import { expect, test } from 'vitest'
import { z } from 'zod'
import { readStarted } from '../../src/events/read-started.ts'
import { sha256 } from '../../src/host/sha256.ts'
import {
  type ComposedStart,
  composeStart,
  isSameInput,
  type StartPorts,
  type StartRequest,
} from '../../src/runs/check-start.ts'
import { firstOfLog } from '../../src/runs/new-run.ts'
import { validate } from '../../src/schemas/schema.ts'

const ports: StartPorts = { sha256, validate, entropy: { bytes: (count) => new Uint8Array(count).fill(7) } }
const request: StartRequest = {
  id: 'order:1',
  procedure: 'order',
  code: { name: 'order', version: 3, input: z.object({ cents: z.coerce.number() }) },
  input: { cents: '4500' },
  isRepeatable: true,
  by: 'user:ana',
  tags: ['eu'],
}
const start = (change: Partial<StartRequest> = {}): ComposedStart | Promise<ComposedStart> =>
  composeStart(ports, { ...request, ...change })

async function recorded(change: Partial<StartRequest> = {}): Promise<ReturnType<typeof readStarted>> {
  const { run } = await start(change)
  return readStarted(firstOfLog(run.started, 9))
}

test('composes a run with the input that the schema returns, and the hash of the given one', async () => {
  expect(await recorded()).toMatchObject({
    id: 'order:1',
    version: 3,
    input: { cents: 4500 },
    checked: true,
    given: expect.any(Uint8Array),
    by: 'user:ana',
    tags: ['eu'],
  })
})

test('rejects an input that does not match the schema, and any input of a procedure without one', () => {
  const rejected = expect.objectContaining({ code: 'input-invalid' })
  expect(() => start({ input: { cents: 'many' } })).toThrow(rejected)
  expect(() => start({ code: { name: 'order', version: 3 } })).toThrow(rejected)
})

test('reads the input before the caller can change it, if the schema is synchronous', () => {
  const input = { cents: '4500' }
  const composed = start({ input })
  input.cents = '1'
  expect(composed).not.toBeInstanceOf(Promise)
  expect(
    isSameInput(
      sha256,
      readStarted(firstOfLog((composed as ComposedStart).run.started, 9)),
      start() as ComposedStart,
    ),
  ).toBe(true)
})

test('recognises the same input: as given, as checked, and without the code', async () => {
  const known = await recorded()
  expect(isSameInput(sha256, known, await start())).toBe(true)
  expect(isSameInput(sha256, known, await start({ input: { cents: 4500 } }))).toBe(true)
  expect(isSameInput(sha256, known, await start({ code: undefined }))).toBe(true)
  expect(isSameInput(sha256, await recorded({ code: undefined }), await start())).toBe(true)
})

test('recognises another input', async () => {
  const known = await recorded()
  expect(isSameInput(sha256, known, await start({ input: { cents: '1' } }))).toBe(false)
  expect(isSameInput(sha256, known, await start({ code: undefined, input: { cents: '1' } }))).toBe(false)
  const unchecked = await recorded({ code: undefined })
  expect(isSameInput(sha256, unchecked, await start({ input: { cents: '1' } }))).toBe(false)
})
