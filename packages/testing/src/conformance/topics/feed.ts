import type { FeedEntry, WholeStore } from '@pawl/core/storage'
import { describe, expect } from 'vitest'
import { answerTo, bytes, newAsk } from '../builders.ts'
import type { StageTest } from '../stage.ts'

export function describeFeed(test: StageTest): void {
  describe('feed', () => {
    test('the feed is empty before anything happens', async (stage) => {
      expect(await stage.port.feed.read(0, 10)).toEqual({ entries: [], oldest: 0, newest: 0 })
    })

    test('the feed has an entry for each ask that is opened or closed, and each run that ends or is marked', async (stage) => {
      const worker = await stage.worker()
      const a = await stage.owned('a', worker)
      await stage.commit(a)
      expect((await stage.port.feed.read(0, 10)).entries).toEqual([])
      await stage.commit(a, { opens: [newAsk(1), newAsk(2)] })
      await stage.commit(a, {
        opens: [newAsk(3, { answered: { by: 'user:amy', at: 5, payload: bytes('yes') } })],
        closes: [
          { position: 1, status: 'timed-out' },
          { position: 1, status: 'withdrawn' },
        ],
      })
      await stage.port.asks.answer([answerTo('a', 2), answerTo('a', 2)], null)
      await stage.port.asks.answer([answerTo('a', 1), answerTo('a', 9), answerTo('nowhere', 1)], null)
      const b = await stage.owned('b', worker)
      await stage.commit(b, { next: { do: 'end', state: 'failed' } })
      const c = await stage.owned('c', worker)
      await stage.port.runs.mark(worker, c.run, c.epoch, 'stuck', bytes('why'))
      await stage.port.runs.mark(worker, c.run, c.epoch, 'stuck', bytes('again, without an owner'))
      const d = await stage.owned('d', worker)
      await stage.port.runs.mark(worker, d.run, d.epoch, 'quarantined', bytes('why'), 'damage')
      const { entries } = await stage.port.feed.read(0, 100)
      const seen = entries.map(({ kind, run, position }) => `${kind} ${run} ${position}`)
      expect(seen.toSorted()).toEqual(
        [
          'ask-opened a 1',
          'ask-opened a 2',
          'ask-closed a 3',
          'ask-closed a 1',
          'ask-closed a 2',
          'run-ended b null',
          'run-stuck c null',
          'run-quarantined d null',
        ].toSorted(),
      )
      // Entries of one ask are in the order of its events.
      for (const position of [1, 2])
        expect(entries.filter((one) => one.position === position).map(({ kind }) => kind)).toEqual([
          'ask-opened',
          'ask-closed',
        ])
      expect(entries.find(({ run }) => run === 'd')).toMatchObject({ runKey: d.run })
      for (const { at } of entries) expect(at).toBeLessThanOrEqual(await stage.port.now())
    })

    test('the feed reports an ended run and its closed asks with the commit that ends it', async (stage) => {
      const worker = await stage.worker()
      const a = await stage.owned('a', worker)
      await stage.commit(a, { opens: [newAsk(1)] })
      await stage.commit(a, {
        strict: true,
        closes: [{ position: 1, status: 'withdrawn' }],
        next: { do: 'end', state: 'completed' },
        info: bytes('info'),
      })
      const b = await stage.owned('b', worker)
      await stage.commit(b, { strict: true, next: { do: 'end', state: 'completed' } })
      const { entries } = await stage.port.feed.read(0, 100)
      expect(entries.map(({ kind, run }) => `${kind} ${run}`)).toEqual(
        expect.arrayContaining(['ask-opened a', 'ask-closed a', 'run-ended a', 'run-ended b']),
      )
      expect(entries).toHaveLength(4)
    })

    test('the feed omits refused writes', async (stage) => {
      const worker = await stage.worker()
      const a = await stage.owned('a', worker)
      await stage.commit({ ...a, epoch: 7 }, { opens: [newAsk(1)] })
      await stage.commit({ ...a, epoch: 7 }, { next: { do: 'end', state: 'completed' } })
      expect(await stage.port.runs.mark(worker, a.run, 7, 'stuck', bytes('why'))).toBe(false)
      expect((await stage.port.feed.read(0, 10)).entries).toEqual([])
    })

    test('the numbers of the feed are dense, and pages of any size make up the whole', async (stage) => {
      const a = await stage.owned('a', await stage.worker())
      for (let round = 0; round < 4; round++) {
        const opens = Array.from({ length: 5 }, (_, index) => newAsk(round * 5 + index))
        await stage.commit(a, { opens })
        if (round % 2 === 0) await stage.port.feed.read(0, 1)
      }
      const { entries, oldest, newest } = await stage.port.feed.read(0, 100)
      expect(entries.map(({ n }) => n)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1))
      expect({ oldest, newest }).toEqual({ oldest: 1, newest: 20 })
      expect(await readAll(stage.port, 3)).toEqual(entries)
      expect((await stage.port.feed.read(19, 100)).entries).toEqual(entries.slice(-1))
      expect(await stage.port.feed.read(20, 100)).toEqual({ entries: [], oldest, newest })
    })

    test('trimming deletes the oldest entries, at most as many as it is told, and never the newest', async (stage) => {
      const run = await stage.owned('a', await stage.worker())
      for (let position = 0; position < 5; position++) {
        await stage.commit(run, { opens: [newAsk(position)] })
      }
      const { entries } = await stage.port.feed.read(0, 100)
      const first = entries[0] as FeedEntry
      expect(await stage.port.feed.trim(first.at, 10)).toBe(0)
      const later = (await stage.port.now()) + 1_000
      expect(await stage.port.feed.trim(later, 2)).toBe(2)
      expect(await stage.port.feed.read(0, 100)).toEqual({ entries: entries.slice(2), oldest: 3, newest: 5 })
      expect(await stage.port.feed.trim(later, 10)).toBe(2)
      expect(await stage.port.feed.trim(later, 10)).toBe(0)
      expect(await stage.port.feed.read(0, 100)).toEqual({ entries: entries.slice(4), oldest: 5, newest: 5 })
      await stage.commit(run, { opens: [newAsk(5)] })
      expect(await stage.port.feed.read(0, 100)).toMatchObject({ oldest: 5, newest: 6 })
    })

    test('concurrent readers of the feed see each entry once, in the same order', async (stage) => {
      const worker = await stage.worker()
      const ports = await Promise.all(Array.from({ length: 3 }, () => stage.connect()))
      const runs = await Promise.all(
        Array.from({ length: 6 }, (_, index) => stage.owned(`run ${index}`, worker)),
      )
      let isOver = false
      const write = runs.map(async (run, index) => {
        const port = ports[index % 3] as WholeStore
        for (let position = 0; position < 10; position++) {
          await stage.commit(run, { opens: [newAsk(position)] }, port)
          await port.asks.answer([answerTo(run.id, position)], null)
          run.seen++
        }
      })
      const read = ports.map(async (port) => {
        const seen: FeedEntry[] = []
        for (;;) {
          const wasOver = isOver
          const { entries } = await port.feed.read(seen.length, 7)
          expect(entries.map(({ n }) => n)).toEqual(entries.map((_, index) => seen.length + index + 1))
          seen.push(...entries)
          if (wasOver && entries.length === 0) return seen
        }
      })
      await Promise.all(write)
      isOver = true
      const seen = await Promise.all(read)
      // The last page of a reader may have been read while another one numbered the last entries.
      for (const [index, entries] of seen.entries())
        entries.push(...(await readAll(ports[index] as WholeStore, 7, entries.length)))
      const [first, ...others] = seen
      expect(first).toHaveLength(120)
      for (const other of others) expect(other).toEqual(first)
      const told = first?.map(({ kind, run, position }) => `${kind} ${run} ${position}`)
      expect(new Set(told).size).toBe(120)
    })
  })
}

async function readAll(port: WholeStore, limit: number, after = 0): Promise<FeedEntry[]> {
  const entries: FeedEntry[] = []
  for (let page = await port.feed.read(after, limit); page.entries.length > 0; ) {
    entries.push(...page.entries)
    page = await port.feed.read(entries.at(-1)?.n ?? after, limit)
  }
  return entries
}
