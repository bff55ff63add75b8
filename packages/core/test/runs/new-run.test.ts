import { expect, test } from 'vitest'
import { decode } from '../../src/events/payload.ts'
import { LogHash, sameBytes } from '../../src/events/seal.ts'
import { sha256 } from '../../src/host/sha256.ts'
import { type Birth, composeRun, firstOfLog, hashRun } from '../../src/runs/new-run.ts'

const birth: Birth = {
  id: 'order:1',
  procedure: 'order',
  version: 3,
  isChecked: true,
  input: { cents: 4500 },
  given: null,
  seed: new Uint8Array(16).fill(7),
  by: 'user:ana',
  tags: ['eu'],
}

test('composes the same run and first event from the same data', () => {
  const run = composeRun(birth)
  expect(run).toEqual(composeRun(birth))
  expect(run).toMatchObject({
    id: 'order:1',
    procedure: 'order',
    version: 3,
    startedBy: 'user:ana',
    tags: ['eu'],
  })
  expect(decode(run.started.payload)).toMatchObject({
    input: { cents: 4500 },
    checked: true,
    seed: birth.seed,
  })
})

test('marks a run whose starter could not validate the input', () => {
  const { started } = composeRun({ ...birth, version: null, isChecked: false })
  expect(decode(started.payload)).toMatchObject({
    checked: false,
    version: null,
    flags: [expect.any(String)],
  })
})

test('hashes the first event as the head of the log', () => {
  const run = composeRun(birth)
  const hash = new LogHash(sha256)
  hash.add(run.started)
  const hashed = hashRun(sha256, run, 5)
  expect(hashed.worker).toBe(5)
  expect(sameBytes(hashed.link, hash.link())).toBe(true)
  expect(firstOfLog(run.started, 9)).toEqual({ ...run.started, seq: 0, at: 9, epoch: 1, link: null })
})

test('rejects an input that cannot be recorded', () => {
  expect(() => composeRun({ ...birth, input: () => 1 })).toThrow(
    expect.objectContaining({ code: 'payload-refused' }),
  )
})
