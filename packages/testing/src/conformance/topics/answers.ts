import { describe, expect } from 'vitest'
import { answerTo, bytes, later, longAgo, newAsk, text, unitFor } from '../builders.ts'
import { comparable, messageOf } from '../messages.ts'
import type { StageTest } from '../stage.ts'

const park = { do: 'park', wakeAt: null } as const

export function describeAnswers(test: StageTest): void {
  describe('asks', () => {
    test('an opened ask is stored as given', async (stage) => {
      const standing = await stage.owned('a', await stage.worker(), { startedBy: 'user:eve' })
      const given = newAsk(3, {
        kind: 'select',
        key: 'which one',
        urgency: 3,
        to: ['user:amy', 'team:ö'],
        escalateTo: ['user:boss'],
        dueAt: 7_000_000_000_001,
        closesAt: 8_000_000_000_001,
        payload: bytes('which?'),
      })
      const outcome = await stage.commit(standing, { opens: [given] })
      const { answered, payload, ...shown } = given
      const ask = await stage.port.asks.find('a', 3)
      expect(ask).toMatchObject({
        ...shown,
        run: 'a',
        runKey: standing.run,
        procedure: 'refund',
        startedBy: 'user:eve',
        status: 'open',
        openedAt: outcome.outcome === 'ok' ? outcome.at : 0,
        closedAt: null,
        answeredBy: null,
        answer: null,
      })
      expect(text(ask?.payload)).toBe('which?')
    })

    test('an ask is found by its key', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      await stage.commit(standing, { opens: [newAsk(3, { key: 'k' }), newAsk(4)] })
      expect(await stage.port.asks.findByKey('a', 'k')).toMatchObject({ position: 3, key: 'k' })
      expect(await stage.port.asks.findByKey('a', 'other')).toBeNull()
      expect(await stage.port.asks.findByKey('b', 'k')).toBeNull()
    })

    test('an ask is found by the key of its run', async (stage) => {
      const worker = await stage.worker()
      const [a, b] = [await stage.owned('a', worker), await stage.owned('b', worker)]
      await stage.commit(a, { opens: [newAsk(3), newAsk(4)] })
      await stage.commit(b, { opens: [newAsk(3)] })
      const found = await Promise.all([
        ...[
          stage.port.asks.findByRunKey(a.run, 3),
          stage.port.asks.findByRunKey(b.run, 3),
          stage.port.asks.findByRunKey(a.run, 4),
        ],
        ...[
          stage.port.asks.findByRunKey(a.run, 5),
          stage.port.asks.findByRunKey(2 ** 44 - 1, 3),
          stage.port.asks.findByRunKey(a.run, 2 ** 20 - 1),
        ],
      ])
      expect(found.map((row) => row && `${row.run}/${row.position}`)).toEqual([
        ...['a/3', 'b/3', 'a/4'],
        ...[null, null, null],
      ])
      expect(found[0]).toEqual(await stage.port.asks.find('a', 3))
    })

    test('an ask that was never opened does not exist', async (stage) => {
      await stage.owned('a', await stage.worker())
      expect(await stage.port.asks.find('a', 0)).toBeNull()
      expect(await stage.port.asks.find('nowhere', 0)).toBeNull()
    })

    test('a position that is taken is a conflict, and nothing is written', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      await stage.commit(standing, { opens: [newAsk(3)] })
      const opens = [newAsk(4), newAsk(3)]
      expect(await stage.commit(standing, { opens, info: bytes('x') })).toEqual({ outcome: 'conflict' })
      expect(await stage.port.asks.find('a', 4)).toBeNull()
      expect(await stage.find('a')).toMatchObject({ head: 2, info: null })
    })

    test('a key that is taken is a conflict and harms no neighbour', async (stage) => {
      const worker = await stage.worker()
      const [a, b, c] = [
        await stage.owned('a', worker),
        await stage.owned('b', worker),
        await stage.owned('c', worker),
      ]
      await stage.commit(b, { opens: [newAsk(3, { key: 'k' })] })
      const units = [a, b, c].map((standing) => unitFor(standing, { opens: [newAsk(4, { key: 'k' })] }))
      expect((await stage.port.log.commit(worker, units)).map(({ outcome }) => outcome)).toEqual([
        'ok',
        'conflict',
        'ok',
      ])
    })

    for (const status of ['timed-out', 'withdrawn'] as const) {
      test(`an ask is closed as ${status}`, async (stage) => {
        const standing = await stage.owned('a', await stage.worker())
        await stage.commit(standing, { opens: [newAsk(3)] })
        const outcome = await stage.commit(standing, { closes: [{ position: 3, status }], strict: true })
        expect(await stage.port.asks.find('a', 3)).toMatchObject({
          status,
          closedAt: outcome.outcome === 'ok' ? outcome.at : 0,
          answeredBy: null,
        })
      })
    }

    test('an ask opened and closed in one unit is closed', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      await stage.commit(standing, { opens: [newAsk(3)], closes: [{ position: 3, status: 'withdrawn' }] })
      expect(await stage.port.asks.find('a', 3)).toMatchObject({ status: 'withdrawn' })
    })

    test('closing an ask that is closed or missing changes nothing', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      await stage.commit(standing, { opens: [newAsk(3)] })
      await stage.commit(standing, { closes: [{ position: 3, status: 'timed-out' }] })
      const closes = [
        { position: 3, status: 'withdrawn' } as const,
        { position: 9, status: 'withdrawn' } as const,
      ]
      expect(await stage.commit(standing, { closes })).toMatchObject({ outcome: 'ok' })
      expect(await stage.port.asks.find('a', 3)).toMatchObject({ status: 'timed-out' })
    })
  })

  describe('answers', () => {
    test('an answer closes the ask, names its actor, and is stored as a message', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      await stage.commit(standing, { opens: [newAsk(3)] })
      const [answered] = await stage.port.asks.answer([answerTo('a', 3)], null)
      expect(answered).toMatchObject({
        outcome: 'answered',
        run: standing.run,
        claimed: null,
      })
      const at = answered?.outcome === 'answered' ? answered.message?.at : 0
      const ask = await stage.port.asks.find('a', 3)
      expect(ask).toMatchObject({ status: 'answered', answeredBy: 'user:amy', closedAt: at })
      expect(text(ask?.answer)).toBe('yes')
      const mail = await stage.port.mail.list(standing.run, 0)
      expect(mail).toMatchObject([{ n: 1, at, kind: 'answer', name: '3' }])
      expect(answered && messageOf(answered)).toEqual(mail[0] && comparable(mail[0]))
      expect(text(mail[0]?.payload)).toBe('yes')
    })

    test('asks that are looked up at once are found, each in its own run only', async (stage) => {
      const worker = await stage.worker()
      const keys = { 'a b': 'c', a: 'b c' }
      for (const [run, key] of Object.entries(keys)) {
        const standing = await stage.owned(run, worker)
        await stage.commit(standing, { opens: [newAsk(3, { key }), newAsk(4)] })
      }
      const { port } = stage
      const asks = await Promise.all([
        ...[
          port.asks.find('a b', 3),
          port.asks.find('a', 3),
          port.asks.find('a', 4),
          port.asks.find('a', 5),
          port.asks.find('b', 3),
        ],
        ...[port.asks.findByKey('a b', 'c'), port.asks.findByKey('a', 'b c'), port.asks.findByKey('a', 'c')],
      ])
      expect(asks.map((ask) => ask && [ask.run, ask.position])).toEqual([
        ...[['a b', 3], ['a', 3], ['a', 4], null, null],
        ...[['a b', 3], ['a', 3], null],
      ])
    })

    test('the second answer is told the winner, and stores nothing', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      await stage.commit(standing, { opens: [newAsk(3)] })
      await stage.port.asks.answer([answerTo('a', 3)], null)
      const [second] = await stage.port.asks.answer(
        [answerTo('a', 3, { by: 'user:bob', payload: bytes('no') })],
        null,
      )
      expect(second).toMatchObject({
        outcome: 'closed',
        ask: { status: 'answered', answeredBy: 'user:amy', position: 3 },
      })
      expect(text(second?.outcome === 'closed' ? second.ask.answer : null)).toBe('yes')
      expect(await stage.find('a')).toMatchObject({ mail: 1 })
    })

    test('the first of two answers in one call wins', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      await stage.commit(standing, { opens: [newAsk(3)] })
      const answers = ['user:amy', 'user:bob'].map((by) => answerTo('a', 3, { by }))
      const answered = await stage.port.asks.answer(answers, null)
      expect(answered).toMatchObject([
        { outcome: 'answered' },
        { outcome: 'closed', ask: { answeredBy: 'user:amy' } },
      ])
    })

    test('an ask that was never opened is missing', async (stage) => {
      await stage.owned('a', await stage.worker())
      const answered = await stage.port.asks.answer([answerTo('a', 3), answerTo('nowhere', 3)], null)
      expect(answered).toEqual([{ outcome: 'missing' }, { outcome: 'missing' }])
    })

    for (const status of ['timed-out', 'withdrawn'] as const) {
      test(`an ask that is ${status} takes no answer`, async (stage) => {
        const standing = await stage.owned('a', await stage.worker())
        await stage.commit(standing, { opens: [newAsk(3)], closes: [{ position: 3, status }] })
        expect(await stage.port.asks.answer([answerTo('a', 3)], null)).toMatchObject([
          { outcome: 'closed', ask: { status } },
        ])
        expect(await stage.find('a')).toMatchObject({ mail: 0 })
      })
    }

    test('an ask takes no answer from its timeout on, though it still reads as open', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      await stage.commit(standing, {
        opens: [newAsk(3, { closesAt: longAgo }), newAsk(4, { closesAt: later })],
      })
      const answered = await stage.port.asks.answer([answerTo('a', 3), answerTo('a', 4)], null)
      expect(answered).toMatchObject([
        { outcome: 'closed', ask: { status: 'open' } },
        { outcome: 'answered' },
      ])
    })

    test('an overdue ask still takes an answer', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      await stage.commit(standing, { opens: [newAsk(3, { dueAt: longAgo })] })
      expect(await stage.port.asks.answer([answerTo('a', 3)], null)).toMatchObject([{ outcome: 'answered' }])
    })

    test('an ended run takes no answer', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      await stage.commit(standing, { opens: [newAsk(3)], next: { do: 'end', state: 'failed' } })
      expect(await stage.port.asks.answer([answerTo('a', 3)], null)).toMatchObject([{ outcome: 'closed' }])
      expect(await stage.find('a')).toMatchObject({ mail: 0 })
    })

    test('an answer wakes the run that waits for it', async (stage) => {
      const claimant = await stage.claimant()
      await stage.parked('a', claimant.worker, { opens: [newAsk(3)], next: { do: 'park', wakeAt: later } })
      await stage.port.asks.answer([answerTo('a', 3)], null)
      expect((await stage.port.claims.claim(claimant, 10)).runs).toMatchObject([
        { id: 'a', mail: 1, epoch: 2 },
      ])
    })

    test('an answer claims the run for its sender, in the same transaction', async (stage) => {
      const claimant = await stage.claimant()
      const { run } = await stage.parked('a', claimant.worker, { opens: [newAsk(3)], next: park })
      const answered = await stage.port.asks.answer([answerTo('a', 3)], claimant)
      expect(answered).toMatchObject([
        { outcome: 'answered', claimed: { run, id: 'a', epoch: 2, head: 2, mail: 1 } },
      ])
      expect(await stage.find('a')).toMatchObject({ owned: true, wakeAt: null })
    })

    test('an owned run is not claimed by an answer', async (stage) => {
      const claimant = await stage.claimant()
      const standing = await stage.owned('a', await stage.worker())
      await stage.commit(standing, { opens: [newAsk(3)] })
      expect(await stage.port.asks.answer([answerTo('a', 3)], claimant)).toMatchObject([
        { outcome: 'answered', claimed: null },
      ])
    })

    test('answering does not claim a run the claimant cannot execute', async (stage) => {
      const worker = await stage.worker()
      await stage.parked('a', worker, { opens: [newAsk(3)], next: park })
      const claimant = await stage.claimant([{ name: 'other', versions: [1] }])
      expect(await stage.port.asks.answer([answerTo('a', 3)], claimant)).toMatchObject([
        { outcome: 'answered', claimed: null },
      ])
    })

    test('an answer keeps a run from being parked', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      await stage.commit(standing, { opens: [newAsk(3)] })
      await stage.port.asks.answer([answerTo('a', 3)], null)
      expect(await stage.commit(standing, { next: park })).toMatchObject({
        outcome: 'ok',
        parked: false,
        mail: 1,
      })
    })

    test('an answer keeps a strict unit from closing the ask', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      await stage.commit(standing, { opens: [newAsk(3)] })
      await stage.port.asks.answer([answerTo('a', 3)], null)
      const closes = [{ position: 3, status: 'timed-out' }] as const
      expect(await stage.commit(standing, { closes, strict: true })).toEqual({ outcome: 'mail', mail: 1 })
      expect(await stage.port.asks.find('a', 3)).toMatchObject({ status: 'answered' })
    })

    test('outcomes are in the order of the answers', async (stage) => {
      const worker = await stage.worker()
      await stage.commit(await stage.owned('a', worker), { opens: [newAsk(1), newAsk(2)] })
      await stage.commit(await stage.owned('b', worker), { opens: [newAsk(1)] })
      const answers = [
        answerTo('b', 1),
        answerTo('a', 9),
        answerTo('a', 2),
        answerTo('b', 1),
        answerTo('a', 1),
      ]
      const answered = await stage.port.asks.answer(answers, null)
      expect(answered.map(({ outcome }) => outcome)).toEqual([
        'answered',
        'missing',
        'answered',
        'closed',
        'answered',
      ])
      expect(await stage.port.asks.answer([], null)).toEqual([])
    })
  })
}
