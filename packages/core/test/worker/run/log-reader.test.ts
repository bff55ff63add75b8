import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { LogDamaged, PayloadCorrupt, WrittenLater } from '../../../src/events/codec.ts'
import type { LogEvent, StoredEvent } from '../../../src/events/event.ts'
import type { LogHead } from '../../../src/events/log-check.ts'
import { LogHash } from '../../../src/events/seal.ts'
import { LogReader, ReadFailed } from '../../../src/worker/run/log-reader.ts'

const sha256 = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest()
const newHash = (): LogHash => new LogHash(sha256)

interface Log extends LogHead {
  readonly events: readonly StoredEvent[]
}

/** A whole log of so many events; `change` is made before they are hashed, as a later version may have written them. */
function createLog(count: number, change: (seq: number) => Partial<StoredEvent> = () => ({})): Log {
  const hash = newHash()
  const events = Array.from({ length: count }, (_, seq) => {
    const event = {
      ...({ type: 'settled', position: seq, turn: seq, kind: 'step', name: 'step', nth: 0 } as const),
      ...{ failed: false, tookMs: 0, payload: null, seq, at: 0, epoch: 1 },
      ...change(seq),
    }
    return { ...event, link: hash.add(event) }
  })
  return { events, head: count, link: hash.link() }
}

interface Reading {
  /** The call for what begins there fails with it. */
  readonly fails?: { readonly at: number; readonly error: Error }
  /** As many events as a call returns at most. */
  readonly max?: number
}

function read(log: Log, { fails, max = 10_000 }: Reading = {}) {
  const asked: number[] = []
  const store = {
    log: {
      async load(_run: number, seq: number, limit: number) {
        asked.push(seq)
        if (seq === fails?.at) throw fails.error
        return log.events.slice(seq, seq + Math.min(limit, max))
      },
    },
  }
  return { asked, pages: new LogReader(store, sha256, 1, { ...log, base: 0 }).pages() }
}

/** What it delivers, and what it ends with. */
async function readAll(
  log: Log,
  reading?: Reading,
): Promise<{ readonly seqs: number[]; readonly error: unknown }> {
  const seqs: number[] = []
  try {
    for await (const page of read(log, reading).pages) {
      expect(page.length).toBeGreaterThan(0)
      seqs.push(...page.map(({ seq }: LogEvent) => seq))
    }
    return { seqs, error: null }
  } catch (error) {
    return { seqs, error }
  }
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, seq) => seq)

test('reads a log to its head, page by page', async () => {
  const { events, ...end } = createLog(2_400)
  const further = { events: [...events, { ...events[0], seq: 2_400 } as StoredEvent], ...end }
  expect(await readAll(further)).toEqual({ seqs: upTo(2_400), error: null })
})

test.each([1, 7, 64, 100])('reads a whole log from a store that returns at most %i events', async (max) => {
  expect(await readAll(createLog(200), { max })).toEqual({ seqs: upTo(200), error: null })
})

test('fetches one page ahead while the caller uses another', async () => {
  const { asked, pages } = read(createLog(3_500))
  await pages.next()
  expect(asked).toEqual([0, 1_024])
  await pages.next()
  expect(asked).toEqual([0, 1_024, 2_048])
})

test('reports a page that cannot be read to a caller that reaches it, and not to one that stops earlier', async () => {
  const fails = { at: 1_024, error: new Error('the disk failed') }
  const { pages } = read(createLog(1_500), { fails })
  expect((await pages.next()).value).toHaveLength(1_024)
  await expect(pages.next()).rejects.toMatchObject({ name: 'ReadFailed', cause: fails.error })
  const unhandled: unknown[] = []
  const note = (error: unknown): number => unhandled.push(error)
  process.on('unhandledRejection', note)
  const stopped = read(createLog(1_500), { fails })
  await stopped.pages.next()
  await stopped.pages.return(undefined)
  await new Promise((resolve) => setImmediate(resolve))
  process.off('unhandledRejection', note)
  expect(unhandled).toEqual([])
})

test('does not retry a read of damaged data', async () => {
  const error = new PayloadCorrupt('is odd')
  expect((await readAll(createLog(3), { fails: { at: 0, error } })).error).toBe(error)
  const other = new Error('away')
  expect((await readAll(createLog(3), { fails: { at: 0, error: other } })).error).toBeInstanceOf(ReadFailed)
})

describe('a damaged log', () => {
  const whole = createLog(200)
  const { events } = whole
  const altered = (seq: number, change: Partial<StoredEvent>): Log => ({
    ...whole,
    events: events.map((event) => (event.seq === seq ? { ...event, ...change } : event)),
  })
  const at70: Partial<StoredEvent>[] = [
    { seq: 71 },
    { type: 'started' },
    { type: 99 },
    { kind: 'timer' },
    { kind: 99 },
    { kind: null },
    { position: 71 },
    { turn: 71 },
    { nth: 1 },
    { name: 'other' },
    { failed: true },
    { payload: new Uint8Array(0) },
    { link: new Uint8Array(32) },
    // The hash has 32 bits of a number, and 8 of a word.
    { position: 70 + 2 ** 32 },
    { turn: 70 - 2 ** 32 },
    { nth: 2 ** 32 },
    { type: 3 + 256 },
    { type: -253 },
    { kind: 256 },
    { kind: 255 },
    { at: 2 ** 53 },
    { epoch: 2 ** 60 },
    { tookMs: 2 ** 60 },
  ]

  test.each(at70)('delivers no event of a damaged block: %o', async (change) => {
    for (const max of [1, 10_000]) {
      const { seqs, error } = await readAll(altered(70, change), { max })
      expect(error).toBeInstanceOf(LogDamaged)
      expect(seqs).toEqual(max === 1 ? upTo(64) : [])
    }
  })

  test('delivers no event of the last block before the hash of the head is verified', async () => {
    for (const head of [1, 63, 64, 65, 199, 200]) {
      const { seqs, error } = await readAll({ ...createLog(head), link: new Uint8Array(32) }, { max: 1 })
      expect(error).toBeInstanceOf(LogDamaged)
      expect(seqs).toEqual(upTo(Math.floor((head - 1) / 64) * 64))
    }
  })

  test('delivers whole blocks only, if the log ends too early', async () => {
    const { seqs, error } = await readAll({ ...whole, head: 201 })
    expect(error).toBeInstanceOf(LogDamaged)
    expect(seqs).toEqual(upTo(192))
  })

  test.each([
    ['continues after its head', { ...whole, head: 199 }],
    ['has a gap', { ...whole, events: events.filter(({ seq }) => seq !== 150) }],
    ['has two events of one number', { ...whole, events: [...events.slice(0, 151), ...events.slice(150)] }],
    ['has no events', { ...whole, events: [] }],
    ['has the head 0', { ...whole, head: 0 }],
    ['was altered in its last block', altered(199, { name: 'other' })],
  ])('delivers nothing if the log %s', async (_, log) => {
    const { seqs, error } = await readAll(log)
    expect(error).toBeInstanceOf(LogDamaged)
    expect(seqs).toEqual([])
  })
})

test.each([{ type: 99 }, { kind: 99 }])(
  'does not report data of a later version as damage: %o',
  async (change) => {
    const { seqs, error } = await readAll(createLog(200, (seq) => (seq === 70 ? change : {})))
    expect(error).toBeInstanceOf(WrittenLater)
    expect(seqs).toEqual([])
  },
)
