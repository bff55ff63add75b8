import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import type { LogEvent } from '../../src/events/event.ts'
import { LogHash } from '../../src/events/seal.ts'
import type { StorePort } from '../../src/ports/store.ts'
import { LogDamaged, LogReader } from '../../src/worker/log-reader.ts'

const newHash = (): LogHash => new LogHash((bytes) => createHash('sha256').update(bytes).digest())

/** A log of so many events, whole. */
function createLog(count: number): readonly LogEvent[] {
  const hash = newHash()
  return Array.from({ length: count }, (_, seq) => {
    const event = {
      ...({ type: 'settled', position: seq, turn: seq, kind: 'step', name: 'step', nth: 0 } as const),
      ...{ failed: false, tookMs: 0, payload: null, seq, at: 0, epoch: 1 },
    }
    return { ...event, link: hash.add(event) }
  })
}

/** Reads it, from a store whose call for what begins at `failsAt` fails. */
function read(log: readonly LogEvent[], head: number, failsAt = -1) {
  const asked: number[] = []
  const store = {
    async load(_run: number, seq: number, limit: number) {
      asked.push(seq)
      if (seq === failsAt) throw new Error('the disk failed')
      return log.slice(seq, seq + limit)
    },
  } as unknown as StorePort
  return { asked, pages: new LogReader(store, 1, head, newHash()).pages() }
}

test('a log is read to its head, page by page', async () => {
  const log = createLog(2_500)
  const { pages } = read(log, 2_400)
  const seqs: number[] = []
  for await (const page of pages) seqs.push(...page.map(({ seq }) => seq))
  expect(seqs).toEqual(Array.from({ length: 2_400 }, (_, seq) => seq))
})

test('the next page is on its way while one is made use of, and no more than that', async () => {
  const { asked, pages } = read(createLog(3_500), 3_500)
  await pages.next()
  expect(asked).toEqual([0, 1_000])
  await pages.next()
  expect(asked).toEqual([0, 1_000, 2_000])
})

test('a page that cannot be read is told to who comes to it, and to nobody who stops before', async () => {
  const { pages } = read(createLog(1_500), 1_500, 1_000)
  expect((await pages.next()).value).toHaveLength(1_000)
  await expect(pages.next()).rejects.toThrow('the disk failed')
  const unhandled: unknown[] = []
  const note = (error: unknown): number => unhandled.push(error)
  process.on('unhandledRejection', note)
  const stopped = read(createLog(1_500), 1_500, 1_000)
  await stopped.pages.next()
  await stopped.pages.return(undefined)
  await new Promise((resolve) => setImmediate(resolve))
  process.off('unhandledRejection', note)
  expect(unhandled).toEqual([])
})

test('a log that ends too early, has a gap, or was altered is damaged', async () => {
  const log = createLog(200)
  const gap = log.filter(({ seq }) => seq !== 70)
  const altered = log.map((event) => (event.seq === 70 ? { ...event, name: 'other' } : event))
  for (const [damaged, head] of [
    [log, 201],
    [gap, 200],
    [altered, 200],
  ] as const) {
    const { pages } = read(damaged, head)
    const all = (async () => {
      for await (const page of pages) expect(page.length).toBeGreaterThan(0)
    })()
    await expect(all).rejects.toThrow(LogDamaged)
  }
})
