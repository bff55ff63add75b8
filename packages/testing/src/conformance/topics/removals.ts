import type { OutgoingMessage } from '@pawl/core/storage'
import { describe, expect } from 'vitest'
import {
  allAsks,
  allRuns,
  answerTo,
  bytes,
  link,
  newAsk,
  newRun,
  outgoing,
  settled,
  signal,
  started,
  text,
} from '../builders.ts'
import type { Stage, StageTest } from '../stage.ts'

const every = { run: null, procedure: null, before: null, limit: 100 }

export function describeRemovals(test: StageTest): void {
  describe('removals', () => {
    test('of a removed run nothing is found, and nothing is left once it is cleared', async (stage) => {
      const { port } = stage
      const run = await endedWithAll(stage, 'a')
      await stage.ended('newer', run.worker)
      expect(await port.removals.remove([run.run])).toEqual(['removed'])
      await expectGone(stage, 'a')
      await clearAll(stage)
      const { runs, events, messages, asks } = await stage.dump()
      expect(runs.map(({ id }) => id)).toEqual(['newer'])
      expect([...events, ...messages, ...asks].filter((row) => row.run === run.run)).toEqual([])
    })

    test('a live run is not removed, whether owned, parked, due, stuck or quarantined', async (stage) => {
      const { port } = stage
      const worker = await stage.worker()
      const owned = await stage.owned('owned', worker)
      const parked = await stage.parked('parked', worker)
      const [due] = await port.runs.create([newRun('due')])
      const stuck = await stage.owned('stuck', worker)
      await port.runs.mark(worker, stuck.run, 1, 'stuck', bytes('why'))
      const quarantined = await stage.owned('quarantined', worker)
      await port.runs.mark(worker, quarantined.run, 1, 'quarantined', bytes('why'), 'crashes')
      const keys = [owned.run, parked.run, due?.run ?? 0, stuck.run, quarantined.run]
      expect(await port.removals.remove(keys)).toEqual(['live', 'live', 'live', 'live', 'live'])
      expect(await port.runs.list(allRuns())).toHaveLength(5)
    })

    test('a quarantined run is removed, and the runs that wait for its end are told in the same transaction', async (stage) => {
      const { port } = stage
      const { worker, run } = await quarantined(stage, 'a')
      const parked = await stage.parked('parked', worker)
      const owned = await stage.owned('owned', worker)
      const ended = await stage.ended('ended', worker)
      const messages = ['parked', 'ended', 'owned', 'missing', 'parked'].map((to, i) => endOf(to, String(i)))
      expect(await port.removals.removeQuarantined({ run, seen: 0, messages })).toBe('removed')
      await expectGone(stage, 'a')
      const told = async (key: number) =>
        (await port.mail.list(key, 0)).map(({ n, kind, name, payload }) => [n, kind, name, text(payload)])
      expect(await told(parked.run)).toEqual([
        [1, 'ended', '0', 'its end'],
        [2, 'ended', '4', 'its end'],
      ])
      expect(await told(owned.run)).toEqual([[1, 'ended', '2', 'its end']])
      expect(await told(ended.run)).toEqual([])
      expect(await stage.find('parked')).toMatchObject({ mail: 2, owned: false, wakeAt: expect.any(Number) })
      expect(await stage.find('owned')).toMatchObject({ mail: 1, owned: true, wakeAt: null })
      expect(await port.removals.removeQuarantined({ run, seen: 0, messages })).toBe('missing')
      expect(await told(owned.run)).toHaveLength(1)
    })

    test('a quarantined run that has got a message, or was retried, stays, and no run is told', async (stage) => {
      const { port } = stage
      const { worker, run } = await quarantined(stage, 'a')
      const parent = await stage.parked('parent', worker)
      const remove = (seen: number) =>
        port.removals.removeQuarantined({ run, seen, messages: [endOf('parent', '0')] })
      await port.mail.send([signal('a')], null)
      expect(await remove(0)).toBe('changed')
      await port.runs.retry(run, 'quarantined')
      expect(await remove(1)).toBe('changed')
      const live = await stage.owned('live', worker)
      expect(await port.removals.removeQuarantined({ run: live.run, seen: 0, messages: [] })).toBe('changed')
      expect(await port.removals.removeQuarantined({ run: 999_999, seen: 0, messages: [] })).toBe('missing')
      expect(await port.mail.list(parent.run, 0)).toEqual([])
      expect(await stage.find('a')).toMatchObject({ state: 'live', mail: 1 })
    })

    test('of a retry and a removal at once, the runs that wait are told only of the removal', async (stage) => {
      const { port } = stage
      const other = await stage.connect()
      for (let round = 0; round < 10; round++) {
        const { worker, run } = await quarantined(stage, `child ${round}`)
        const parent = await stage.parked(`parent ${round}`, worker)
        const messages = [endOf(`parent ${round}`, '0')]
        const [isRetried, removed] = await Promise.all([
          other.runs.retry(run, 'quarantined'),
          port.removals.removeQuarantined({ run, seen: 0, messages }),
        ])
        expect(isRetried).toBe(removed === 'changed')
        expect(await port.mail.list(parent.run, 0)).toHaveLength(isRetried ? 0 : 1)
        expect((await port.runs.find(`child ${round}`)) === null).toBe(!isRetried)
      }
    })

    test('an unknown run and one that was removed are missing', async (stage) => {
      const run = await stage.ended('a', await stage.worker())
      expect(await stage.port.removals.remove([run.run, 999_999])).toEqual(['removed', 'missing'])
      expect(await stage.port.removals.remove([run.run])).toEqual(['missing'])
    })

    test('answered asks become decisions, which outlive the run', async (stage) => {
      const { port } = stage
      const run = await endedWithAll(stage, 'a')
      const before = await port.asks.find('a', 1)
      await port.removals.remove([run.run])
      await clearAll(stage)
      const kept = await port.removals.decisions(every)
      expect(kept).toEqual([{ ...before, digest: null }])
      expect([kept[0]?.run, kept[0]?.answeredBy, text(kept[0]?.answer)]).toEqual(['a', 'user:amy', 'yes'])
      expect(await port.removals.decidedProcedures()).toEqual(['refund'])
      expect(await port.removals.decisions({ ...every, run: 'b' })).toEqual([])
      expect(await port.removals.decisions({ ...every, procedure: 'other' })).toEqual([])
      expect(await port.removals.decisions({ ...every, before: { run: run.run, position: 1 } })).toEqual([])
      const digest = new Uint8Array([1, 2, 3])
      const other = { run: run.run, position: 2, digest }
      await port.removals.sealDecisions([{ run: run.run, position: 1, digest }, other])
      expect((await port.removals.decisions(every)).map((row) => row.digest && [...row.digest])).toEqual([
        [1, 2, 3],
      ])
      // A seal stays.
      await port.removals.sealDecisions([{ run: run.run, position: 1, digest: new Uint8Array([4]) }])
      expect((await port.removals.decisions(every)).map((row) => row.digest && [...row.digest])).toEqual([
        [1, 2, 3],
      ])
      expect(await port.removals.forgetDecisions('refund', before?.closedAt ?? 0, 10)).toBe(0)
      expect(await port.removals.forgetDecisions('refund', (before?.closedAt ?? 0) + 1, 10)).toBe(1)
      expect(await port.removals.decisions(every)).toEqual([])
    })

    test('the id of a removed run is free, and a new run with it starts clean', async (stage) => {
      const { port } = stage
      const old = await endedWithAll(stage, 'a')
      await port.removals.remove([old.run])
      for (const isCleared of [false, true]) {
        if (isCleared) await clearAll(stage)
        const id = isCleared ? 'b' : 'a'
        const [created] = await port.runs.create([newRun(id)])
        expect(created).toMatchObject({ outcome: 'created' })
        expect(created?.run).toBeGreaterThan(old.run)
        expect(await stage.find(id)).toMatchObject({ head: 1, mail: 0, tags: [] })
        expect(await port.log.load(created?.run ?? 0, 0, 10)).toHaveLength(1)
        expect(await port.mail.list(created?.run ?? 0, 0)).toEqual([])
        expect(await port.mail.send([signal(id, { key: 'once' })], null)).toMatchObject([
          { outcome: 'stored' },
        ])
      }
    })

    test('a long log is cleared in parts', async (stage) => {
      const { port } = stage
      const worker = await stage.worker()
      const run = await stage.owned('a', worker)
      await stage.commit(run, { events: Array.from({ length: 50 }, (_, k) => settled(k)) })
      await stage.commit(run, { next: { do: 'end', state: 'completed' } })
      await stage.ended('newer', worker)
      await port.removals.remove([run.run])
      let parts = 0
      while (await port.removals.clear(20)) parts++
      expect((await stage.dump()).events.filter((event) => event.run === run.run)).toEqual([])
      expect(parts).toBeLessThan(5)
    })

    test('clearing leaves a copy in progress and every run', async (stage) => {
      const { port } = stage
      await stage.ended('ended', await stage.worker())
      const copy = { id: 'a', token: 'f'.repeat(32), procedure: 'refund', version: 1 }
      const event = { ...started(), seq: 0, at: 1, epoch: 0, link: null }
      await port.copies.install(copy, 0, [event], null)
      await clearAll(stage)
      const last = {
        ...{ base: 0, states: [] },
        ...{
          link: link(1),
          state: 'live' as const,
          createdAt: null,
          endedAt: null,
          cancelAt: null,
          tags: [],
        },
        ...{
          startedBy: null,
          parent: null,
          info: null,
          messages: [],
          asks: [],
          checkpoints: [],
          notices: [],
        },
      }
      expect(await port.copies.install(copy, 1, [], last)).toMatchObject({ outcome: 'installed' })
      expect(await stage.find('ended')).toMatchObject({ head: 2 })
    })

    test('ended runs are listed from the newest, with how and when they ended', async (stage) => {
      const { port } = stage
      const worker = await stage.worker()
      await stage.parked('live', worker)
      const a = await stage.ended('a', worker, 'failed')
      const b = await stage.ended('b', worker)
      const all = await port.removals.ended(null, 100)
      const { endedAt } = await stage.find('a')
      expect(all.runs).toMatchObject([
        { run: b.run, state: 'completed' },
        { run: a.run, id: 'a', state: 'failed', procedure: 'refund', endedAt, parent: null },
      ])
      expect(all.next).toBeNull()
      const first = await port.removals.ended(null, 1)
      expect(first.runs.map(({ run }) => run)).toEqual([b.run])
      expect((await port.removals.ended(first.next, 2)).runs.map(({ run }) => run)).toEqual([a.run])
      expect((await port.removals.ended(a.run, 2)).runs).toEqual([])
    })

    test('earlier generations are dropped, the oldest first and each in parts', async (stage) => {
      const { port } = stage
      const worker = await stage.worker()
      const run = await stage.owned('a', worker)
      await stage.commit(run, { events: [settled(0), settled(1), started()], begins: 3 })
      await stage.commit(run, { events: [settled(2), started()], begins: 5 })
      await stage.commit(run, { events: [settled(3)] })
      const firsts = async () => (await port.log.load(run.run, 0, 1))[0]?.seq
      const [, , , second, , third] = await port.log.load(run.run, 0, 10)
      expect(await port.removals.dropGeneration(run.run, second?.at ?? 0, 100)).toBe(0)
      const later = (third?.at ?? 0) + 1
      expect(await port.removals.dropGeneration(run.run, later, 2)).toBe(2)
      expect(await firsts()).toBe(2)
      expect(await port.removals.dropGeneration(run.run, later, 100)).toBe(1)
      expect(await port.removals.dropGeneration(run.run, later, 100)).toBe(2)
      expect(await firsts()).toBe(5)
      expect(await port.removals.dropGeneration(run.run, later, 100)).toBe(0)
      expect(await port.removals.dropGeneration(999_999, later, 100)).toBe(0)
      expect(await stage.find('a')).toMatchObject({ base: 5, head: 7 })
      await stage.commit(run, { events: [settled(4)] })
      expect((await port.log.load(run.run, 0, 10)).map(({ seq }) => seq)).toEqual([5, 6, 7])
      const { continued } = await port.removals.ended(null, 10)
      expect(continued).toEqual([{ run: run.run, procedure: 'refund' }])
    })

    test('only live runs with an earlier generation are listed as continued', async (stage) => {
      const worker = await stage.worker()
      await stage.owned('first', worker)
      const ended = await stage.owned('ended', worker)
      await stage.commit(ended, { events: [started()], begins: 1, next: { do: 'end', state: 'failed' } })
      const { runs, continued } = await stage.port.removals.ended(null, 10)
      expect([runs.map(({ run }) => run), continued]).toEqual([[ended.run], []])
    })

    test('of a removal and an answer at once, the decision is kept', async (stage) => {
      const { port } = stage
      const other = await stage.connect()
      const worker = await stage.worker()
      for (let round = 0; round < 10; round++) {
        const run = await stage.owned(`run ${round}`, worker)
        await stage.commit(run, { opens: [newAsk(1)] })
        await port.runs.mark(worker, run.run, 1, 'quarantined', bytes('why'), 'damage')
        const remove = async (seen: number) =>
          port.removals.removeQuarantined({ run: run.run, seen, messages: [] })
        const [[answered], removed] = await Promise.all([
          other.asks.answer([answerTo(run.id, 1)], null),
          remove(0),
        ])
        // An answer is a message.
        expect(removed === 'removed' ? removed : await remove(1)).toBe('removed')
        const kept = await port.removals.decisions({ ...every, run: run.id })
        expect(kept).toHaveLength(answered?.outcome === 'answered' ? 1 : 0)
      }
    })
  })
}

async function quarantined(stage: Stage, id: string) {
  const worker = await stage.worker()
  const { run } = await stage.owned(id, worker)
  await stage.port.runs.mark(worker, run, 1, 'quarantined', bytes('why'), 'crashes')
  return { worker, run }
}

function endOf(to: string, position: string): OutgoingMessage {
  return outgoing(to, { kind: 'ended', name: position, payload: bytes('its end'), must: false })
}

async function endedWithAll(stage: Stage, id: string) {
  const worker = await stage.worker()
  const run = await stage.owned(id, worker, { tags: ['x'], startedBy: 'user:bob' })
  await stage.commit(run, { opens: [newAsk(1), newAsk(2)] })
  await stage.port.mail.send([signal(id, { key: 'once' })], null)
  await stage.port.asks.answer([answerTo(id, 1)], null)
  await stage.commit(run, {
    closes: [{ position: 2, status: 'withdrawn' }],
    next: { do: 'end', state: 'failed' },
  })
  return run
}

async function expectGone({ port }: Stage, id: string): Promise<void> {
  expect(await port.runs.find(id)).toBeNull()
  expect((await port.runs.list(allRuns())).filter((run) => run.id === id)).toEqual([])
  expect(await port.runs.list(allRuns({ tag: 'x' }))).toEqual([])
  for (const status of ['open', 'answered', 'withdrawn'] as const)
    expect(await port.asks.list(allAsks({ status }))).toEqual([])
  expect(await port.asks.count(allAsks(), 10)).toBe(0)
  expect(await port.asks.find(id, 1)).toBeNull()
  expect((await port.feed.read(0, 100)).entries.filter(({ run }) => run === id)).toEqual([])
  expect(await port.mail.send([signal(id)], null)).toEqual([{ outcome: 'missing' }])
  expect(await port.asks.answer([answerTo(id, 1)], null)).toEqual([{ outcome: 'missing' }])
}

async function clearAll({ port }: Stage): Promise<void> {
  while (await port.removals.clear(100)) {
    // Until nothing is left.
  }
}
