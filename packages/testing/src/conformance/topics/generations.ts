import {
  askSlotOf,
  cancelKey,
  type KeptPast,
  type LastPart,
  type NewGeneration,
  type RunKey,
} from '@pawl/core/storage'
import { describe, expect } from 'vitest'
import {
  allAsks,
  allRuns,
  answerTo,
  bytes,
  hex,
  link,
  newAsk,
  outgoing,
  settled,
  signal,
  started,
  text,
  unitFor,
} from '../builders.ts'
import type { StageTest } from '../stage.ts'

const copyOfChild: LastPart = {
  ...{ link: link(9), state: 'live', createdAt: 1, endedAt: null, cancelAt: null, tags: [], startedBy: null },
  ...{
    parent: { run: 'p', position: 4 },
    info: null,
    messages: [],
    asks: [],
    base: 0,
    states: [],
    checkpoints: [],
    notices: [],
  },
}

export function describeGenerations(test: StageTest): void {
  describe('generations', () => {
    test('a run begins with its first generation', async (stage) => {
      await stage.owned('a', await stage.worker())
      expect(await stage.find('a')).toMatchObject({ base: 0, head: 1 })
    })

    test('a unit begins a generation; later units and a claim keep it', async (stage) => {
      const claimant = await stage.claimant()
      const standing = await stage.owned('a', claimant.worker)
      const events = [settled(0), started({ payload: bytes('again') })]
      expect(await stage.commit(standing, { events, begins: 2 })).toMatchObject({ outcome: 'ok' })
      expect(await stage.find('a')).toMatchObject({ base: 2, head: 3, owned: true })
      await stage.commit(standing, { events: [settled(1)] })
      await stage.commit(standing, { events: [settled(2)], info: bytes('info') })
      await stage.commit(standing, { events: [settled(3)], next: { do: 'park', wakeAt: 0 } })
      const { runs } = await stage.port.claims.claim(claimant, 10)
      expect(runs).toMatchObject([{ base: 2, head: 6 }])
    })

    test('a message that claims the run tells its base', async (stage) => {
      const claimant = await stage.claimant()
      const standing = await stage.owned('a', claimant.worker)
      await stage.commit(standing, { events: [started()], begins: 1, next: { do: 'park', wakeAt: null } })
      expect(await stage.port.mail.send([signal('a')], claimant)).toMatchObject([
        { claimed: { base: 1, head: 2 } },
      ])
    })

    test('units of other runs in the same commit keep theirs', async (stage) => {
      const worker = await stage.worker()
      const [a, b, c] = [
        await stage.owned('a', worker),
        await stage.owned('b', worker),
        await stage.owned('c', worker),
      ]
      await stage.owned('d', worker)
      const outcomes = await stage.port.log.commit(worker, [
        unitFor(a, { events: [settled(0)] }),
        unitFor(b, { events: [settled(0), started()], begins: 2, strict: true }),
        unitFor(c, { events: [settled(0)], sends: [outgoing('d')] }),
      ])
      expect(outcomes).toMatchObject([{ outcome: 'ok' }, { outcome: 'ok' }, { outcome: 'ok' }])
      expect(await stage.find('a')).toMatchObject({ base: 0, head: 2 })
      expect(await stage.find('b')).toMatchObject({ base: 2, head: 3 })
      expect(await stage.find('c')).toMatchObject({ base: 0, head: 2 })
      expect(await stage.find('d')).toMatchObject({ base: 0, mail: 1 })
    })

    test('a strict unit that has not seen a message begins nothing', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      await stage.port.mail.send([signal('a')], null)
      const unit = { events: [started()], begins: 1, strict: true }
      expect(await stage.commit(standing, unit)).toEqual({ outcome: 'mail', mail: 1 })
      expect(await stage.find('a')).toMatchObject({ base: 0, head: 1 })
      expect(await stage.commit(standing, { ...unit, seen: 1 })).toMatchObject({ outcome: 'ok' })
      expect(await stage.port.mail.list(standing.run, 0)).toMatchObject([{ n: 1, kind: 'signal' }])
    })

    test('an ask gives way to one of a later generation, which gets its position or its key', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      await stage.commit(standing, { opens: [newAsk(3, { key: 'k' }), newAsk(4, { key: 'other' })] })
      const closed = [3, 4].map((position) => ({ position, status: 'withdrawn' }) as const)
      await stage.commit(standing, { events: [settled(1), started()], closes: closed, begins: 3 })
      const later = newAsk(9, { key: 'k', replaces: true, payload: bytes('later') })
      const again = newAsk(4, { replaces: true, payload: bytes('again') })
      expect(await stage.commit(standing, { opens: [later, again] })).toMatchObject({ outcome: 'ok' })
      expect(await stage.port.asks.findByKey('a', 'k')).toMatchObject({ position: 9, status: 'open' })
      expect(await stage.port.asks.find('a', 3)).toMatchObject({ key: null, status: 'withdrawn' })
      expect(await stage.port.asks.find('a', 4)).toMatchObject({ key: null, status: 'open' })
      expect(text((await stage.port.asks.find('a', 4))?.payload)).toBe('again')
      expect(await stage.port.asks.findByKey('a', 'other')).toBeNull()
      expect(
        await stage.port.asks.answer(
          [{ run: 'a', position: 4, by: 'user:amy', payload: bytes('yes') }],
          null,
        ),
      ).toMatchObject([{ outcome: 'answered' }])
    })

    test('asks that are asked again stay beside the earlier ones, also in an extract and in the archive', async (stage) => {
      const { port } = stage
      const standing = await stage.owned('a', await stage.worker())
      const slots = [1, 2, 3].map((asking) => askSlotOf({ position: 4, asking }))
      const [second = 0, third = 0, last = 0] = slots
      await stage.commit(standing, { opens: [newAsk(4, { key: 'k' })] })
      await stage.commit(standing, { closes: [{ position: 4, status: 'timed-out' }], begins: 2 })
      const open = (position: number) => ({ opens: [newAsk(position, { key: 'k', replaces: true })] })
      await stage.commit(standing, open(second))
      await port.asks.answer([answerTo('a', second)], null)
      await stage.commit(standing, { ...open(third), seen: 1 })
      const [listed] = await port.asks.list(allAsks({ to: ['team:finance'] }))
      expect(listed).toMatchObject({ position: third, key: 'k' })
      await stage.commit(standing, { closes: [{ position: third, status: 'withdrawn' }], seen: 1 })
      await stage.commit(standing, { ...open(last), seen: 1 })
      expect(await port.asks.count(allAsks({}), 10)).toBe(1)
      const told = (await port.feed.read(0, 20)).entries.map(({ kind, position }) => [kind, position])
      expect(told.slice(-3)).toEqual([
        ['ask-opened', third],
        ['ask-closed', third],
        ['ask-opened', last],
      ])
      const places = [4, second, third, last]
      for (const [index, position] of places.entries())
        expect(await port.asks.find('a', position)).toMatchObject({
          ...{ position, key: position === last ? 'k' : null },
          status: ['timed-out', 'answered', 'withdrawn', 'open'][index],
        })
      expect((await port.copies.extract('a'))?.asks.map(({ position }) => position)).toEqual(places)
      expect(await port.asks.findByKey('a', 'k')).toMatchObject({ position: last })
      const answers = [answerTo('a', third), answerTo('a', last)]
      expect(await port.asks.answer(answers, null)).toMatchObject([
        { outcome: 'closed', ask: { position: third } },
        { outcome: 'answered' },
      ])
      const messages = await port.mail.list(standing.run, 0)
      expect(messages.map(({ name }) => name)).toEqual([String(second), String(last)])
      await stage.commit(standing, { next: { do: 'end', state: 'completed' }, seen: 2 })
      expect(await port.removals.remove([standing.run])).toEqual(['removed'])
      const archived = await port.removals.decisions({ run: null, procedure: null, before: null, limit: 10 })
      expect(archived.map(({ position }) => position).sort((a, b) => a - b)).toEqual([second, last])
    })

    test('an open ask gives way to none', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      await stage.commit(standing, { opens: [newAsk(3, { key: 'k' })] })
      for (const ask of [newAsk(3, { replaces: true }), newAsk(9, { key: 'k', replaces: true })])
        expect(await stage.commit(standing, { opens: [ask] })).toMatchObject({ outcome: 'conflict' })
    })
  })

  describe('restart', () => {
    const generationOf = (
      run: RunKey,
      head: number,
      overrides: Partial<NewGeneration> = {},
    ): NewGeneration => ({
      run,
      head,
      version: 1,
      started: started({ payload: bytes('again') }),
      link: link(99),
      tags: [],
      startedBy: null,
      info: bytes('info'),
      kept: null,
      ...overrides,
    })

    test('an ended run is live again, due, and has a new generation', async (stage) => {
      const claimant = await stage.claimant()
      const standing = await stage.ended('a', claimant.worker)
      const { epoch } = standing
      const head = (await stage.find('a')).head
      const given = { version: 1, tags: ['new'], startedBy: 'user:bob' }
      expect(await stage.port.runs.restart([generationOf(standing.run, head, given)])).toBe(true)
      const row = await stage.find('a')
      expect(row).toMatchObject({
        ...{ state: 'live', mark: 'none', owned: false, base: head, head: head + 1, endedAt: null },
        ...{ tags: ['new'], startedBy: 'user:bob', parent: null, version: 1 },
      })
      expect(hex(row.link)).toBe(hex(link(99)))
      expect(text(row.info)).toBe('info')
      expect(row.wakeAt).toBeLessThanOrEqual(await stage.port.now())
      expect((await stage.port.runs.list(allRuns({ tag: 'new' }))).map(({ id }) => id)).toEqual(['a'])
      const { runs } = await stage.port.claims.claim(claimant, 10)
      expect(runs).toMatchObject([{ base: head, head: head + 1, epoch: epoch + 2, tries: 0 }])
      // The epoch before that of its first owner.
      expect(await stage.port.log.load(standing.run, head, 10)).toMatchObject([
        { seq: head, epoch: epoch + 1 },
      ])
    })

    test('what was in its mail is dropped, with the keys and the request to cancel', async (stage) => {
      const worker = await stage.worker()
      const standing = await stage.owned('a', worker)
      await stage.port.mail.send([signal('a', { key: 'once' }), signal('a')], null)
      await stage.port.mail.cancel({ run: 'a', payload: null }, null)
      await stage.commit(standing, { next: { do: 'end', state: 'cancelled' }, consumes: [1, 3], seen: 3 })
      expect(await stage.port.runs.restart([generationOf(standing.run, 2)])).toBe(true)
      expect(await stage.port.mail.list(standing.run, 0)).toEqual([])
      expect(await stage.find('a')).toMatchObject({ cancelAt: null, mail: 3 })
      expect(await stage.port.mail.send([signal('a', { key: 'once' })], null)).toMatchObject([
        { outcome: 'stored' },
      ])
      expect(await stage.port.mail.cancel({ run: 'a', payload: null }, null)).toMatchObject({
        outcome: 'stored',
      })
      const { messages } = await stage.dump()
      expect(messages.map(({ n, key, used }) => [n, key, used])).toEqual([
        [1, null, true],
        [2, null, true],
        [3, null, true],
        [4, 'once', false],
        [5, cancelKey, false],
      ])
    })

    const past = (head: number, overrides: Partial<KeptPast> = {}): KeptPast => ({
      startedAt: 77,
      exposedUntil: 77,
      events: [settled(0), settled(1)].map((event, index) => ({
        ...event,
        ...{ seq: head + 1 + index, at: 88 + index, epoch: 0, link: index === 0 ? null : link(5) },
      })),
      cancelAt: null,
      signals: [],
      checkpoints: [],
      ...overrides,
    })

    test('a generation that keeps a past has its events, with their times', async (stage) => {
      const claimant = await stage.claimant()
      const { run, epoch } = await stage.ended('a', claimant.worker)
      const { head } = await stage.find('a')
      const kept = past(head, { cancelAt: 66 })
      expect(await stage.port.runs.restart([generationOf(run, head, { kept })])).toBe(true)
      expect(await stage.find('a')).toMatchObject({ base: head, head: head + 3, cancelAt: 66, state: 'live' })
      const events = await stage.port.log.load(run, head, 10)
      expect(events.map(({ seq, at, epoch }) => [seq, at, epoch])).toEqual(
        [77, 88, 89].map((at, index) => [head + index, at, epoch + 1]),
      )
      expect(events.map((event) => hex(event.link))).toEqual([null, null, link(5)].map(hex))
      expect((await stage.port.claims.claim(claimant, 10)).runs).toMatchObject([
        { base: head, head: head + 3, epoch: epoch + 2 },
      ])
    })

    test('with a past, signals stay in the mail, and given signals are behind them', async (stage) => {
      const worker = await stage.worker()
      const standing = await stage.owned('a', worker)
      const others = ['ended', 'ended'] as const
      await stage.port.mail.send([signal('a', { key: 'used' }), signal('a', { key: 'kept' })], null)
      await stage.port.mail.send(
        others.map((kind) => signal('a', { kind, name: '4' })),
        null,
      )
      await stage.port.mail.cancel({ run: 'a', payload: null }, null)
      await stage.commit(standing, { next: { do: 'end', state: 'failed' }, consumes: [1, 3], seen: 5 })
      const signals = [
        { name: 'paid', by: 'user:ana', payload: bytes('by card') },
        { name: 'shipped', by: null, payload: null },
      ]
      const { head } = await stage.find('a')
      const kept = past(head, { signals })
      expect(await stage.port.runs.restart([generationOf(standing.run, head, { kept })])).toBe(true)
      expect(
        (await stage.port.mail.list(standing.run, 0)).map(({ n, kind, name, by, payload }) => [
          ...[n, kind, name, by],
          text(payload),
        ]),
      ).toEqual([
        [2, 'signal', 'paid', 'user:sam', text(signal('a').payload)],
        [6, 'signal', 'paid', 'user:ana', 'by card'],
        [7, 'signal', 'shipped', null, text(null)],
      ])
      expect(await stage.find('a')).toMatchObject({ mail: 7, cancelAt: null })
      for (const key of ['used', 'kept'])
        expect(await stage.port.mail.send([signal('a', { key })], null)).toMatchObject([
          { outcome: 'duplicate' },
        ])
      expect(await stage.port.mail.cancel({ run: 'a', payload: null }, null)).toMatchObject({
        outcome: 'stored',
      })
    })

    test('with a past, exposed values stay that were written by its time, and all others are removed', async (stage) => {
      const events = [{ ...started(), seq: 0, at: 1, epoch: 1, link: null }]
      const states = [6, 7, 8].map((at) => ({ name: `at ${at}`, at, payload: bytes(`value ${at}`) }))
      for (const id of ['a', 'b'])
        await stage.port.copies.install(
          { id, token: 'e'.repeat(32), procedure: 'refund', version: 1 },
          ...([0, events, { ...copyOfChild, parent: null, state: 'failed', endedAt: 9, states }] as const),
        )
      const [a, b] = [await stage.find('a'), await stage.find('b')]
      const kept = past(1, { exposedUntil: 7 })
      expect(await stage.port.runs.restart([generationOf(a.run, 1, { kept })])).toBe(true)
      const namesOf = async ({ run }: { readonly run: RunKey }) =>
        (await stage.port.states.list(run, null)).map(({ name }) => name)
      expect(await namesOf(a)).toEqual(['at 6', 'at 7'])
      expect(await namesOf(b)).toEqual(['at 6', 'at 7', 'at 8'])
      expect(await stage.port.runs.restart([generationOf(b.run, 1)])).toBe(true)
      expect(await namesOf(b)).toEqual([])
    })

    test('with a past, a value stays that the unit exposed which began the ended generation, and none of a later unit, in whichever millisecond', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      const state = (name: string) => ({ name, by: null, payload: bytes(name) })
      await stage.commit(standing, { events: [settled(0)], states: [state('first'), state('replaced')] })
      await stage.commit(standing, { events: [settled(1), started()], states: [state('last')], begins: 3 })
      await stage.commit(standing, { events: [settled(2)], states: [state('later'), state('replaced')] })
      await stage.commit(standing, { next: { do: 'end', state: 'failed' } })
      const { run, head } = await stage.find('a')
      const kept = past(head, { exposedUntil: Number.MAX_SAFE_INTEGER })
      expect(await stage.port.runs.restart([generationOf(run, head, { kept })])).toBe(true)
      expect((await stage.port.states.list(run, null)).map(({ name }) => name)).toEqual(['first', 'last'])
    })

    test('a child that keeps a past stays one', async (stage) => {
      const last = { ...copyOfChild, state: 'failed', endedAt: 5 } as const
      const events = [{ ...started(), seq: 0, at: 1, epoch: 1, link: null }]
      const copy = { id: 'c', token: 'f'.repeat(32), procedure: 'refund', version: 1 }
      await stage.port.copies.install(copy, 0, events, last)
      const { run } = await stage.find('c')
      expect(await stage.port.runs.restart([generationOf(run, 1, { kept: past(1) })])).toBe(true)
      expect(await stage.find('c')).toMatchObject({ parent: { run: 'p', position: 4 } })
    })

    test('a live run, one with another head, and one that does not exist are refused', async (stage) => {
      const worker = await stage.worker()
      const live = await stage.owned('live', worker)
      const ended = await stage.ended('ended', worker)
      const before = await stage.dump()
      expect(await stage.port.runs.restart([generationOf(live.run, 1)])).toBe(false)
      expect(await stage.port.runs.restart([generationOf(ended.run, 1)])).toBe(false)
      expect(await stage.port.runs.restart([generationOf(4711, 1)])).toBe(false)
      expect(await stage.dump()).toEqual(before)
    })

    test('a removed run is refused, also while its log is still there', async (stage) => {
      const { run } = await stage.ended('a', await stage.worker())
      const { head } = await stage.find('a')
      expect(await stage.port.removals.remove([run])).toEqual(['removed'])
      expect(await stage.port.runs.restart([generationOf(run, head)])).toBe(false)
      expect(await stage.port.runs.restart([generationOf(run, head, { kept: past(head) })])).toBe(false)
      while (await stage.port.removals.clear(100)) {}
      expect(await stage.port.runs.find('a')).toBeNull()
      const { events, runs } = await stage.dump()
      expect([events, runs.map(({ id }) => id)]).toEqual([[], []])
    })

    test('of a removal and a restart at once one succeeds', async (stage) => {
      const { run } = await stage.ended('a', await stage.worker())
      const { head } = await stage.find('a')
      const other = await stage.connect()
      const [restarted, [removed]] = await Promise.all([
        stage.port.runs.restart([generationOf(run, head)]),
        other.removals.remove([run]),
      ])
      expect([restarted, removed]).toEqual(restarted ? [true, 'live'] : [false, 'removed'])
      expect(await stage.port.runs.find('a')).toEqual(
        restarted ? expect.objectContaining({ state: 'live' }) : null,
      )
    })

    test('no restarts are nothing', async (stage) => {
      expect(await stage.port.runs.restart([])).toBe(true)
    })

    test('several runs begin again, each with what is its own', async (stage) => {
      const claimant = await stage.claimant()
      const ids = ['a', 'b', 'c']
      const ended = []
      for (const id of ids) ended.push(await stage.ended(id, claimant.worker))
      const heads = await Promise.all(ids.map(async (id) => (await stage.find(id)).head))
      const [a, b, c] = ended.map(({ run }) => run) as [RunKey, RunKey, RunKey]
      const [headA, headB, headC] = heads as [number, number, number]
      const signals = ['paid', 'shipped'].map((name) => ({ name, by: null, payload: bytes(name) }))
      expect(
        await stage.port.runs.restart([
          generationOf(b, headB, { kept: past(headB, { signals, cancelAt: 66 }), tags: ['b', 'two'] }),
          generationOf(c, headC, { startedBy: 'user:cid', version: 2, link: link(7), info: bytes('of c') }),
          generationOf(a, headA, { kept: past(headA, { startedAt: 55, signals: signals.slice(1) }) }),
        ]),
      ).toBe(true)
      expect(await stage.find('a')).toMatchObject({
        state: 'live',
        base: headA,
        head: headA + 3,
        mail: 1,
        tags: [],
      })
      expect(await stage.find('b')).toMatchObject({
        head: headB + 3,
        mail: 2,
        cancelAt: 66,
        tags: ['b', 'two'],
      })
      expect(await stage.find('c')).toMatchObject({
        head: headC + 1,
        mail: 0,
        startedBy: 'user:cid',
        version: 2,
      })
      expect(text((await stage.find('c')).info)).toBe('of c')
      const timesOf = async (run: RunKey, head: number) =>
        (await stage.port.log.load(run, head, 10)).map(({ seq, at }) => [seq - head, at])
      expect(await timesOf(a, headA)).toEqual([0, 1, 2].map((k) => [k, [55, 88, 89][k]]))
      expect(await timesOf(b, headB)).toEqual([0, 1, 2].map((k) => [k, [77, 88, 89][k]]))
      const mailOf = async (run: RunKey) =>
        (await stage.port.mail.list(run, 0)).map(({ n, name }) => [n, name])
      expect(await mailOf(a)).toEqual([[1, 'shipped']])
      expect(await mailOf(b)).toEqual([
        [1, 'paid'],
        [2, 'shipped'],
      ])
      expect((await stage.port.claims.claim(claimant, 10)).runs.map(({ id }) => id).sort()).toEqual([
        'a',
        'b',
      ])
    })

    test('several runs begin again, or none: if one is live, removed, or has another head', async (stage) => {
      const worker = await stage.worker()
      const live = await stage.owned('live', worker)
      const removed = await stage.ended('removed', worker)
      const ended = []
      for (const id of ['a', 'b']) ended.push(await stage.ended(id, worker))
      const [a, b] = ended.map(({ run }) => run) as [RunKey, RunKey]
      const heads = await Promise.all(['a', 'b', 'removed'].map(async (id) => (await stage.find(id)).head))
      const [headA, headB, headRemoved] = heads as [number, number, number]
      await stage.port.removals.remove([removed.run])
      const before = await stage.dump()
      const fits = [generationOf(a, headA), generationOf(b, headB)]
      for (const other of [
        generationOf(live.run, 1),
        generationOf(removed.run, headRemoved),
        generationOf(4711, 1),
      ])
        for (const family of [
          [other, ...fits],
          [...fits, other],
        ])
          expect(await stage.port.runs.restart(family)).toBe(false)
      expect(await stage.port.runs.restart([generationOf(a, headA), generationOf(b, headB - 1)])).toBe(false)
      expect(await stage.dump()).toEqual(before)
      expect(await stage.port.runs.restart(fits)).toBe(true)
    })

    test('of families that share a run, in any order, one begins again', async (stage) => {
      const worker = await stage.worker()
      const runs: RunKey[] = []
      for (const id of ['a', 'b', 'c']) runs.push((await stage.ended(id, worker)).run)
      const { head } = await stage.find('a')
      const family = (order: readonly number[]) => order.map((i) => generationOf(runs[i] as RunKey, head))
      const other = await stage.connect()
      const outcomes = await Promise.all([
        stage.port.runs.restart(family([0, 1])),
        other.runs.restart(family([1, 0])),
        stage.port.runs.restart(family([2, 1])),
        other.runs.restart(family([1, 2])),
      ])
      expect(outcomes.filter((isLive) => isLive)).toHaveLength(1)
      const states = await Promise.all(['a', 'b', 'c'].map(async (id) => (await stage.find(id)).state))
      expect(states.filter((state) => state === 'live')).toHaveLength(2)
    })

    test('of several restarts one succeeds', async (stage) => {
      const { run } = await stage.ended('a', await stage.worker())
      const { head } = await stage.find('a')
      const other = await stage.connect()
      const outcomes = await Promise.all(
        [stage.port, other, stage.port].map((port) => port.runs.restart([generationOf(run, head)])),
      )
      expect(outcomes.filter((isLive) => isLive)).toHaveLength(1)
      expect(await stage.find('a')).toMatchObject({ head: head + 1 })
    })
  })
}
