import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LogHash } from '../../../src/events/seal.ts'
import type { KeptCheckpoint } from '../../../src/ports/store/checkpoints.ts'
import { type ExportHeader, exportFormat, frameHead, magic } from '../../../src/runs/export/format.ts'
import { type ExportPart, readExport } from '../../../src/runs/export/read.ts'
import { ExportWriter } from '../../../src/runs/export/write.ts'

const sha256 = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest()

const header: ExportHeader = {
  ...{
    format: exportFormat,
    id: 'a',
    procedure: 'p',
    version: null,
    state: 'live',
    first: 0,
    base: 0,
    head: 1,
  },
  ...{ link: new Uint8Array(), createdAt: 1, endedAt: null, cancelAt: null, tags: [], startedBy: null },
  ...{ parent: null, info: null },
}
const saved: KeptCheckpoint = { slot: 1, position: 1, seq: null, at: 1, name: 'one', payload: null }

function fileOf(checkpoints: readonly unknown[], of: ExportHeader = header): Uint8Array {
  const writer = new ExportWriter(sha256)
  const started = {
    type: 'started',
    position: -1,
    turn: 0,
    kind: null,
    name: 'p',
    nth: 0,
    failed: false,
  } as const
  const event = { ...started, seq: 0, at: 1, epoch: 1, tookMs: null, payload: null, link: null }
  const hash = new LogHash(sha256)
  hash.add(event)
  const rows = {
    messages: [],
    asks: [],
    states: [],
    notices: [],
    checkpoints: checkpoints as readonly KeptCheckpoint[],
  }
  return Buffer.concat([
    ...writer.begin({ ...of, link: hash.link() }),
    ...writer.addEvent(event),
    ...writer.end(rows),
  ])
}

async function read(file: Uint8Array): Promise<readonly ExportPart[]> {
  const parts: ExportPart[] = []
  for await (const part of readExport(sha256, [file])) parts.push(part)
  return parts
}

/** With the digest of the value, which is compared faster. */
function shorten({ payload, ...row }: KeptCheckpoint): object {
  return { ...row, payload: payload && createHash('sha256').update(payload).digest('hex') }
}

/** Returns the numbers of the kinds in a file. */
function numbersIn(file: Uint8Array): readonly number[] {
  const numbers: number[] = []
  const view = new DataView(file.buffer, file.byteOffset, file.length)
  for (let at = magic.length; at < file.length; at += frameHead + view.getUint32(at))
    numbers.push(view.getUint8(at + 4))
  return numbers
}

describe('checkpoints of an exported run', () => {
  test('they are a part with a number of its own, and none is written without them', () => {
    expect(numbersIn(fileOf([]))).toEqual([0, 1, 5])
    expect(numbersIn(fileOf([saved]))).toEqual([0, 1, 6, 5])
  })

  test('what is written is read, in its order', async () => {
    const one = fc.record({
      slot: fc.nat(2 ** 31 - 1),
      position: fc.nat(2 ** 31 - 1),
      seq: fc.option(fc.nat(1)),
      at: fc.nat(),
      name: fc.option(fc.string({ minLength: 1, maxLength: 20 }).filter((name) => !name.includes('\0'))),
      payload: fc.option(fc.nat(200_000).map((length) => new Uint8Array(length).fill(length))),
    })
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(one, { selector: ({ slot }) => slot, maxLength: 6 }), async (given) => {
        const parts = await read(fileOf(given))
        const checkpoints = parts.flatMap((part) => (part.kind === 'checkpoints' ? part.checkpoints : []))
        expect(checkpoints.map(shorten)).toEqual(given.map(shorten))
      }),
      { numRuns: 30 },
    )
  })

  test.each([
    ['two checkpoints in slot 1', [saved, { ...saved, name: 'two' }], {}],
    ['the seq of checkpoint 1 is behind the end', [{ ...saved, seq: 2 }], {}],
    ['the position of checkpoint 1', [{ ...saved, position: -1 }], {}],
    ['the slot of a checkpoint', [{ ...saved, slot: 2 ** 31 }], {}],
    ['the name of checkpoint 1', [{ ...saved, name: '' }], {}],
    ['the value of checkpoint 1', [{ ...saved, payload: 'text' }], {}],
    ['it has completed, and has checkpoints', [saved], { state: 'completed', endedAt: 2 }],
  ] as const)('what no store keeps is refused: %s', async (reason, checkpoints, of) => {
    await expect(read(fileOf(checkpoints, { ...header, ...of }))).rejects.toMatchObject({
      code: 'export-invalid',
      details: { reason: expect.stringContaining(reason) },
    })
  })

  test('a kind of a later version is refused as such', async () => {
    const file = fileOf([])
    // The last part, with a number that no version has yet, and its digest.
    const last = file.subarray(-frameHead - 1)
    last[4] = 99
    const before = digestBefore(file)
    last.set(sha256(Buffer.concat([before, last.subarray(0, 5), last.subarray(frameHead)])), 5)
    await expect(read(file)).rejects.toMatchObject({
      details: { reason: expect.stringMatching(/the part at byte \d+ was written by a later version/) },
    })
  })
})

/** Returns the digest of the part before the last one. */
function digestBefore(file: Uint8Array): Uint8Array {
  const view = new DataView(file.buffer, file.byteOffset, file.length)
  let before = 0
  for (let at = magic.length; at + frameHead + view.getUint32(at) < file.length; ) {
    before = at
    at += frameHead + view.getUint32(at)
  }
  return file.slice(before + 5, before + frameHead)
}
