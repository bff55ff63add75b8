import type { KeptAsk, LastPart, LogEvent, RunCopy } from '@pawl/core/storage'
import { describe, expect } from 'vitest'
import {
  allAsks,
  allRuns,
  answerTo,
  bytes,
  hex,
  link,
  newAsk,
  newRun,
  settled,
  signal,
  started,
} from '../builders.ts'
import type { Stage, StageTest } from '../stage.ts'

export function describeInstall(test: StageTest): void {
  describe('copied runs', () => {
    test('a log is copied in parts, and is a run with its last part', async (stage) => {
      const { port } = stage
      const claimant = await stage.claimant()
      expect(await port.copies.install(copyOf('a'), 0, log(3), null)).toMatchObject({ outcome: 'installed' })
      await expectNothing(stage, 'a')
      expect((await port.claims.claim(claimant, 10)).runs).toEqual([])
      const done = await port.copies.install(copyOf('a'), 3, log(70).slice(3), last())
      expect(done).toMatchObject({ outcome: 'installed' })
      const row = await stage.find('a')
      expect(row).toMatchObject({
        ...{ procedure: 'refund', version: 1, state: 'live', head: 70, mail: 3, createdAt: 5, cancelAt: 6 },
        ...{ tags: ['x'], startedBy: 'user:amy', parent: { run: 'p', position: 4 }, owned: false },
      })
      expect([hex(row.link), hex(row.info)]).toEqual([hex(link(9)), hex(bytes('info'))])
      const events = await port.log.load(row.run, 0, 100)
      expect(events.map(({ seq, at, epoch }) => [seq, at, epoch])).toEqual(
        log(70).map(({ seq, at, epoch }) => [seq, at, epoch]),
      )
      expect(hex(events[63]?.link)).toBe(hex(link(63)))
      expect((await port.claims.claim(claimant, 10)).runs).toMatchObject([
        { id: 'a', head: 70, mail: 3, epoch: 8 },
      ])
    })

    test('messages, asks and checkpoints come with the last part', async (stage) => {
      const { port } = stage
      await port.copies.install(copyOf('a'), 0, log(3), last())
      const { run } = await stage.find('a')
      expect((await port.mail.list(run, 0)).map(({ n, kind, name }) => [n, kind, name])).toEqual([
        [3, 'signal', 'paid'],
      ])
      expect(await port.mail.send([signal('a', { key: 'once' })], null)).toMatchObject([
        { outcome: 'duplicate' },
      ])
      expect(await port.asks.list(allAsks({ to: ['team:finance'] }))).toMatchObject([
        { run: 'a', position: 1, openedAt: 7, status: 'open' },
      ])
      expect(await port.asks.list(allAsks({ status: 'answered' }))).toMatchObject([
        { position: 0, answeredBy: 'user:bob', closedAt: 8 },
      ])
      expect(await port.checkpoints.list({ run, until: null, before: null, limit: 10 })).toMatchObject([
        { slot: 0, position: 0, name: 'loaded', at: 4, seq: null },
        { slot: 2, name: 'sent', at: 6, seq: 3, payload: null },
      ])
      expect((await port.feed.read(0, 10)).entries).toMatchObject([
        { kind: 'ask-opened', run: 'a', position: 1 },
      ])
      expect(await port.asks.answer([answerTo('a', 1)], null)).toMatchObject([
        { outcome: 'answered', message: { n: 4 } },
      ])
    })

    test('an ended run is copied as ended', async (stage) => {
      await stage.port.copies.install(
        copyOf('a'),
        0,
        log(2),
        last({ state: 'failed', endedAt: 77, asks: [] }),
      )
      expect(await stage.find('a')).toMatchObject({ state: 'failed', endedAt: 77, wakeAt: null })
      expect((await stage.port.claims.claim(await stage.claimant(), 10)).runs).toEqual([])
    })

    test('a part that is repeated changes nothing', async (stage) => {
      for (const times of [1, 2]) await stage.port.copies.install(copyOf('a'), 0, log(times + 1), null)
      await stage.port.copies.install(copyOf('a'), 2, log(4).slice(2), null)
      await stage.port.copies.install(copyOf('a'), 2, log(4).slice(2), last())
      expect(await stage.find('a')).toMatchObject({ head: 4 })
    })

    test('a copy does not replace a run, also of two with one id', async (stage) => {
      await stage.port.runs.create([newRun('taken')])
      for (const token of ['1', '2']) await stage.port.copies.install(copyOf('a', token), 0, log(2), null)
      for (const id of ['taken', 'a'])
        expect(await stage.port.copies.install(copyOf(id, '1'), 2, [], last())).toMatchObject({
          outcome: id === 'a' ? 'installed' : 'exists',
        })
      expect(await stage.port.copies.install(copyOf('a', '2'), 2, [], last())).toEqual({ outcome: 'exists' })
      expect(await stage.find('taken')).toMatchObject({ head: 1 })
      // Until it is cleared, what is left of the second copy is there, and no call finds it.
      await stage.port.copies.install(copyOf('b', '2'), 2, [], last())
    })

    test('a copy has several generations, of which the first may be missing', async (stage) => {
      const { port } = stage
      const events = log(8).map((event) => (event.seq % 3 === 0 ? { ...started(), ...rest(event) } : event))
      await port.copies.install(copyOf('a'), 0, events, last({ base: 6 }))
      expect(await stage.find('a')).toMatchObject({ base: 6, head: 8 })
      await port.copies.install(copyOf('b', 'b'), 0, [], null)
      await port.copies.install(copyOf('b', 'b'), 3, events.slice(3, 5), null)
      await port.copies.install(copyOf('b', 'b'), 5, events.slice(5), last({ base: 6 }))
      const { run, ...row } = await stage.find('b')
      expect(row).toMatchObject({ base: 6, head: 8 })
      expect((await port.log.load(run, 0, 2)).map(({ seq }) => seq)).toEqual([3, 4])
      expect((await port.log.load(run, 5, 9)).map(({ seq }) => seq)).toEqual([5, 6, 7])
      const { runs } = await port.claims.claim(await stage.claimant(), 10)
      expect(runs).toMatchObject([
        { id: 'a', base: 6, head: 8 },
        { id: 'b', base: 6, head: 8 },
      ])
    })

    test('an extract of a copy is what was copied', async (stage) => {
      const { port } = stage
      const states = [
        { name: 'B', at: 3, payload: bytes('b') },
        { name: 'a', at: 4, payload: null },
      ]
      const given = last({ states, cancelAt: null })
      await port.copies.install(copyOf('a'), 0, log(3), given)
      const extract = await port.copies.extract('a')
      expect(extract?.row).toEqual(await stage.find('a'))
      expect(plain(extract?.messages)).toEqual(plain(given.messages))
      expect(plain(extract?.states)).toEqual(plain(states))
      expect(plain(extract?.asks)).toEqual(
        plain(given.asks.map((one) => ({ ...one, ...askOrigin, runKey: extract?.row.run }))),
      )
      expect(plain(extract?.checkpoints)).toEqual(plain(given.checkpoints))
      expect(plain(extract?.notices)).toEqual(plain(given.notices))
      expect(await port.copies.extract('b')).toBeNull()
    })

    test('an extract has the checkpoints that are there, in the order of writing', async (stage) => {
      const { port } = stage
      const a = await stage.owned('a', await stage.worker())
      expect((await port.copies.extract('a'))?.checkpoints).toEqual([])
      const point = (slot: number) => ({ slot, position: slot, name: null, payload: bytes(`state ${slot}`) })
      await stage.commit(a, { checkpoints: [point(4), point(1), point(2)] })
      await port.checkpoints.add(a.run, { ...point(0), seq: 2 })
      await stage.commit(a, { checkpoints: [point(4)] })
      const gone = await port.checkpoints.find(a.run, 1)
      await port.checkpoints.remove([gone?.n ?? -1])
      const rows = await port.checkpoints.list({ run: a.run, until: null, before: null, limit: 10 })
      const kept = rows.map(({ slot, position, seq, at, name, payload }) => ({
        ...{ slot, position, seq, at, name, payload },
      }))
      expect(kept.map(({ slot, seq }) => [slot, seq])).toEqual([
        [4, null],
        [0, 2],
        [2, null],
      ])
      expect(plain((await port.copies.extract('a'))?.checkpoints)).toEqual(plain(kept.toReversed()))
      await stage.commit(a, { next: { do: 'end', state: 'completed' } })
      expect((await port.copies.extract('a'))?.checkpoints).toEqual([])
    })

    test('an extract has the messages that were used and the asks that are closed', async (stage) => {
      const { port } = stage
      const run = await stage.owned('a', await stage.worker(), { startedBy: 'user:bob' })
      await port.mail.send([signal('a', { key: 'once' }), signal('a')], null)
      await stage.commit(run, { opens: [newAsk(1), newAsk(2)], consumes: [1], seen: 2 })
      await port.asks.answer([answerTo('a', 2)], null)
      await stage.commit(run, { closes: [{ position: 1, status: 'withdrawn' }], seen: 3 })
      const extract = await port.copies.extract('a')
      expect(extract?.messages).toMatchObject([
        { n: 1, key: 'once', by: 'user:sam', used: true, payload: null },
        { n: 2, key: null, used: false },
        { n: 3, kind: 'answer', used: false },
      ])
      expect(extract?.asks).toEqual([await port.asks.find('a', 1), await port.asks.find('a', 2)])
    })

    test('a part without those before it is lost', async (stage) => {
      expect(await stage.port.copies.install(copyOf('a'), 3, log(4).slice(3), last())).toEqual({
        outcome: 'lost',
      })
      await expectNothing(stage, 'a')
    })
  })
}

async function expectNothing({ port }: Stage, id: string): Promise<void> {
  expect(await port.runs.find(id)).toBeNull()
  expect(await port.runs.list(allRuns())).toEqual([])
  expect(await port.asks.list(allAsks())).toEqual([])
  expect(await port.mail.send([signal(id)], null)).toEqual([{ outcome: 'missing' }])
}

function copyOf(id: string, token = 'f'): RunCopy {
  return { id, token: token.repeat(32), procedure: 'refund', version: 1 }
}

function log(count: number): readonly LogEvent[] {
  return Array.from({ length: count }, (_, seq) => ({
    ...(seq === 0 ? started() : settled(seq - 1)),
    ...{ seq, at: 1_000 + seq, epoch: Math.min(seq, 7), link: seq % 64 === 63 ? link(seq) : null },
  }))
}

const askOrigin = { run: 'a', procedure: 'refund', startedBy: 'user:amy' }

/** With bytes as text, since each store returns its own kind of byte array. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return hex(value)
  if (Array.isArray(value)) return value.map(plain)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, plain(part)]))
}

function rest({ seq, at, epoch, link }: LogEvent): Pick<LogEvent, 'seq' | 'at' | 'epoch' | 'link'> {
  return { seq, at, epoch, link }
}

function ask(position: number, overrides: Partial<KeptAsk> = {}): KeptAsk {
  return {
    ...{ position, kind: 'approve', key: null, urgency: 1, to: ['team:finance'], escalateTo: ['user:"x"'] },
    ...{ openedAt: 7, dueAt: null, closesAt: null, closedAt: null, answeredBy: null },
    ...{ status: 'open', payload: bytes(`question ${position}`), answer: null },
    ...overrides,
  }
}

function last(overrides: Partial<LastPart> = {}): LastPart {
  const signalOf = { at: 9, kind: 'signal', name: 'paid' } as const
  return {
    ...{
      base: 0,
      states: [],
      link: link(9),
      state: 'live',
      createdAt: 5,
      endedAt: null,
      cancelAt: 6,
      tags: ['x'],
    },
    ...{ startedBy: 'user:amy', parent: { run: 'p', position: 4 }, info: bytes('info') },
    messages: [
      { ...signalOf, n: 1, key: 'once', by: null, used: true, payload: null },
      { ...signalOf, n: 3, key: null, by: 'user:sam', used: false, payload: bytes('by card') },
    ],
    asks: [
      ask(0, { status: 'answered', closedAt: 8, answeredBy: 'user:bob', answer: bytes('yes'), key: 'first' }),
      ask(1),
    ],
    notices: [
      {
        ...{ position: 3, digest: -5, seq: 4, at: 8, kind: 'notice', severity: 'warning', to: ['user:amy'] },
        payload: bytes('late'),
      },
    ],
    checkpoints: [
      { slot: 2, position: 2, name: 'sent', payload: null, at: 6, seq: 3 },
      { slot: 0, position: 0, name: 'loaded', payload: bytes('state'), at: 4, seq: null },
    ],
    ...overrides,
  }
}
