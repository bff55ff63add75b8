import type { NewEvent, StoredEvent } from '@pawl/core/storage'
import { describe, expect } from 'vitest'
import { hex, link, settled } from '../builders.ts'
import type { StageTest } from '../stage.ts'

export function describeLoad(test: StageTest): void {
  describe('load', () => {
    test('a log that was never written is empty', async (stage) => {
      expect(await stage.port.log.load(4711, 0, 10)).toEqual([])
    })

    test('a log is read from a seq, up to a limit', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      await stage.commit(standing, { events: Array.from({ length: 9 }, (_, position) => settled(position)) })
      const seqs = async (from: number, limit: number) =>
        (await stage.port.log.load(standing.run, from, limit)).map(({ seq }) => seq)
      expect(await seqs(0, 100)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
      expect(await seqs(4, 3)).toEqual([4, 5, 6])
      expect(await seqs(8, 3)).toEqual([8, 9])
      expect(await seqs(10, 3)).toEqual([])
      expect(await seqs(0, 0)).toEqual([])
    })

    test('pages of a long log make up the log', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      for (let block = 0; block < 10; block++) {
        const events = Array.from({ length: 100 }, (_, index) => settled(block * 100 + index))
        await stage.commit(standing, { events })
      }
      const positions: number[] = []
      for (let page = await stage.port.log.load(standing.run, 0, 64); page.length > 0; ) {
        positions.push(...page.map(({ position }) => position))
        page = await stage.port.log.load(standing.run, positions.length, 64)
      }
      expect(positions).toEqual(Array.from({ length: 1001 }, (_, index) => index - 1))
    })

    test('logs of runs that were written in turn are not mixed', async (stage) => {
      const worker = await stage.worker()
      const [a, b] = [await stage.owned('a', worker), await stage.owned('b', worker)]
      for (let round = 0; round < 5; round++) {
        await stage.commit(a, { events: [settled(round, { name: 'a' })] })
        await stage.commit(b, { events: [settled(round, { name: 'b' })] })
      }
      const names = (await stage.port.log.load(a.run, 1, 100)).map(({ name }) => name)
      expect(names).toEqual(['a', 'a', 'a', 'a', 'a'])
    })

    test('seals are read where they were written, a block at a time', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      const events = Array.from({ length: 127 }, (_, position) => settled(position))
      const seals = events.map((_, index) => (index % 64 === 62 ? link(index) : null))
      await stage.commit(standing, { events, seals, link: link(200) })
      const log = await stage.port.log.load(standing.run, 0, 200)
      expect(log.filter((event) => event.link !== null).map(({ seq }) => seq)).toEqual([63, 127])
      expect([...(log[63]?.link ?? [])]).toEqual([...link(62)])
    })

    for (const [what, payload] of payloads()) {
      test(`a payload is read byte by byte as written: ${what}`, async (stage) => {
        const standing = await stage.owned('a', await stage.worker())
        await stage.commit(standing, { events: [settled(0, { payload })] })
        const [event] = await stage.port.log.load(standing.run, 1, 1)
        expect(event?.payload?.length).toBe(payload.length)
        expect(Buffer.compare(event?.payload ?? new Uint8Array(), payload)).toBe(0)
      })
    }

    test('events of any size and with any name are read in order', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      const names = ['a', '', '"quoted", [1]', "it's\\n", 'größe ☕️', '\u2028\n\t\u001f', 'x'.repeat(300)]
      const sizes = [1, null, 0, 255, 256, 257, null, 5_000, 3]
      const events = Array.from({ length: 63 }, (_, position) => {
        const size = sizes[position % sizes.length] ?? null
        const payload = size === null ? null : new Uint8Array(size).fill(position)
        const failed = position % 2 === 1
        const tookMs = position % 3 === 0 ? null : position
        return settled(position, { name: names[position % names.length] ?? '', payload, failed, tookMs })
      })
      await stage.commit(standing, { events })
      const shown = (event: NewEvent | StoredEvent) => {
        const { type, position, turn, kind, name, nth, failed, tookMs, payload } = event
        return { type, position, turn, kind, name, nth, failed, tookMs, payload: hex(payload) }
      }
      const log = await stage.port.log.load(standing.run, 1, 100)
      expect(log.map(shown)).toEqual(events.map(shown))
      expect((await stage.port.log.load(standing.run, 31, 7)).map(shown)).toEqual(
        events.slice(30, 37).map(shown),
      )
    })

    test('reading many logs at once equals reading them one by one', async (stage) => {
      const worker = await stage.worker()
      const runs: number[] = []
      for (let n = 0; n < 12; n++) {
        const standing = await stage.owned(`run ${n}`, worker)
        // Some are large enough for a store to read them separately.
        const size = [3, 300, 70_000][n % 3] ?? 0
        const events = Array.from({ length: n }, (_, position) =>
          settled(position, { name: `${n}`, payload: new Uint8Array(position % 2 === 0 ? size : 2).fill(n) }),
        )
        if (n > 0) await stage.commit(standing, { events })
        runs.push(standing.run)
      }
      // Whole logs, parts of logs, duplicates and missing runs.
      const asked: readonly (readonly [run: number, seq: number, limit: number])[] = [
        ...runs.map((run) => [run, 0, 100] as const),
        ...runs.map((run) => [run, 3, 4] as const),
        [runs[5] ?? 0, 0, 100],
        [4711, 0, 10],
      ]
      const shown = (log: readonly StoredEvent[]) =>
        log.map(({ seq, name, payload }) => ({ seq, name, payload: hex(payload) }))
      const alone: unknown[] = []
      for (const part of asked) alone.push(shown(await stage.port.log.load(...part)))
      const atOnce = await Promise.all(asked.map((part) => stage.port.log.load(...part)))
      expect(atOnce.map(shown)).toEqual(alone)
    })

    test('reusing a buffer after the call does not change what is stored', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      const pool = new Uint8Array(64).fill(1)
      await stage.commit(standing, { events: [settled(0, { payload: pool.subarray(8, 16) })] })
      pool.fill(2)
      const [event] = await stage.port.log.load(standing.run, 1, 1)
      expect([...(event?.payload ?? [])]).toEqual([1, 1, 1, 1, 1, 1, 1, 1])
    })

    test('a large batch of large payloads is written in one call', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      const payload = new Uint8Array(300_000).fill(7)
      await stage.commit(standing, {
        events: Array.from({ length: 20 }, (_, position) => settled(position, { payload })),
      })
      expect(await stage.port.log.load(standing.run, 0, 100)).toHaveLength(21)
    })
  })
}

function payloads(): [string, Uint8Array][] {
  const twoMiB = new Uint8Array(2 * 1024 * 1024)
  for (let index = 0; index < twoMiB.length; index++) twoMiB[index] = (index * 31 + (index >> 8)) & 255
  return [
    ['none at all', new Uint8Array(0)],
    ['a zero', Uint8Array.of(0)],
    ['every byte there is', Uint8Array.from({ length: 256 }, (_, byte) => byte)],
    ['not UTF-8', Uint8Array.of(0xff, 0xfe, 0xc0, 0x80, 0xed, 0xa0, 0x80)],
    [
      'text of the kind databases change',
      new TextEncoder().encode('\\x00\'; -- \u0000 \ufffd ☕️ {"b":1,"a":-0}'),
    ],
    ['2 MiB', twoMiB],
  ]
}
