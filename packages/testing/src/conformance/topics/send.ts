import { describe, expect } from 'vitest'
import { bytes, hex, newRun, signal, text, unitFor } from '../builders.ts'
import { comparable, messageOf } from '../messages.ts'
import type { StageTest } from '../stage.ts'

export function describeSend(test: StageTest): void {
  describe('send', () => {
    test('a message is stored for the run, in order', async (stage) => {
      const before = await stage.port.now()
      const { run } = await stage.owned('a', await stage.worker())
      const sent = await stage.port.mail.send(
        [signal('a', { name: 'one' }), signal('a', { name: 'two', payload: bytes('2') })],
        null,
      )
      const mail = await stage.port.mail.list(run, 0)
      expect(sent).toMatchObject([
        { outcome: 'stored', run, claimed: null },
        { outcome: 'stored', run, claimed: null },
      ])
      expect(sent.map(messageOf)).toEqual(mail.map(comparable))
      expect(mail.map(({ n, kind, name, payload }) => [n, kind, name, text(payload)])).toEqual([
        [1, 'signal', 'one', 'by card'],
        [2, 'signal', 'two', '2'],
      ])
      expect(mail[0]?.at).toBeGreaterThanOrEqual(before)
      expect(mail[0]?.at).toBeLessThanOrEqual(await stage.port.now())
    })

    test('who sent a message is kept with it, and that no one is known', async (stage) => {
      const { run } = await stage.owned('a', await stage.worker())
      const [first] = await stage.port.mail.send([signal('a', { by: 'user:ana' })], null)
      await stage.port.mail.send([signal('a', { by: null }), signal('a', { by: 'user:bob', key: 'k' })], null)
      expect(first).toMatchObject({ message: { by: 'user:ana' } })
      const senders = [
        [1, 'user:ana'],
        [2, null],
        [3, 'user:bob'],
      ]
      expect((await stage.port.mail.list(run, 0)).map(({ n, by }) => [n, by])).toEqual(senders)
      const extract = await stage.port.copies.extract('a')
      expect(extract?.messages.map(({ n, by }) => [n, by])).toEqual(senders)
    })

    test('the sender of one message gets its outcome', async (stage) => {
      const { run } = await stage.owned('a', await stage.worker())
      await stage.port.mail.send([signal('a')], null)
      const [sent] = await stage.port.mail.send([signal('a', { payload: null })], null)
      const [message] = await stage.port.mail.list(run, 1)
      expect(message).toMatchObject({ n: 2, payload: null })
      expect(sent && messageOf(sent)).toEqual(message && comparable(message))
    })

    test('only mail above a number is read', async (stage) => {
      const { run } = await stage.owned('a', await stage.worker())
      await stage.port.mail.send([signal('a'), signal('a'), signal('a')], null)
      expect((await stage.port.mail.list(run, 2)).map(({ n }) => n)).toEqual([3])
      expect(await stage.port.mail.list(run, 3)).toEqual([])
    })

    test('the mail of many runs is read at once, each its own', async (stage) => {
      const worker = await stage.worker()
      const runs: number[] = []
      for (const id of ['a', 'b', 'c']) runs.push((await stage.owned(id, worker)).run)
      await stage.port.mail.send(
        ['a', 'c', 'a', 'c', 'c'].map((run) => signal(run, { name: `to ${run}` })),
        null,
      )
      const asked = [...runs.map((run) => [run, 0] as const), ...runs.map((run) => [run, 1] as const)]
      const mail = await Promise.all(asked.map(([run, after]) => stage.port.mail.list(run, after)))
      expect(mail.map((messages) => messages.map(({ n, name }) => `${n} ${name}`))).toEqual([
        ['1 to a', '2 to a'],
        [],
        ['1 to c', '2 to c', '3 to c'],
        ['2 to a'],
        [],
        ['2 to c', '3 to c'],
      ])
    })

    test('mail of an unknown run is empty', async (stage) => {
      expect(await stage.port.mail.list(4711, 0)).toEqual([])
    })

    test('a message without a payload stays without one', async (stage) => {
      const { run } = await stage.owned('a', await stage.worker())
      await stage.port.mail.send(
        [signal('a', { payload: null }), signal('a', { payload: new Uint8Array(0) })],
        null,
      )
      const mail = await stage.port.mail.list(run, 0)
      expect(mail.map(({ payload }) => payload?.length ?? null)).toEqual([null, 0])
    })

    test('messages of any size are read byte by byte, in order', async (stage) => {
      const { run } = await stage.owned('a', await stage.worker())
      const payloads = [1, 255, 256, 257, 70_000, 2].map((size, n) => new Uint8Array(size).fill(n))
      await stage.port.mail.send(
        payloads.map((payload) => signal('a', { payload })),
        null,
      )
      const mail = await stage.port.mail.list(run, 0)
      expect(mail.map(({ payload }) => hex(payload))).toEqual(payloads.map(hex))
    })

    test('an unknown run is missing', async (stage) => {
      expect(await stage.port.mail.send([signal('nowhere')], null)).toEqual([{ outcome: 'missing' }])
    })

    for (const state of ['completed', 'failed', 'cancelled'] as const) {
      test(`a run that has ended as ${state} takes no message`, async (stage) => {
        await stage.ended('a', await stage.worker(), state)
        expect(await stage.port.mail.send([signal('a')], null)).toEqual([{ outcome: 'ended', state }])
        expect(await stage.find('a')).toMatchObject({ mail: 0 })
      })
    }

    test('a key seen before is a duplicate, and the first message stands', async (stage) => {
      const { run } = await stage.owned('a', await stage.worker())
      await stage.port.mail.send([signal('a', { key: 'k', payload: bytes('first') })], null)
      const again = await stage.port.mail.send([signal('a', { key: 'k', payload: bytes('second') })], null)
      expect(again).toEqual([{ outcome: 'duplicate', run, message: null, claimed: null }])
      expect((await stage.port.mail.list(run, 0)).map(({ payload }) => text(payload))).toEqual(['first'])
      expect(await stage.find('a')).toMatchObject({ mail: 1 })
    })

    test('a key twice in one call is kept once', async (stage) => {
      const { run } = await stage.owned('a', await stage.worker())
      const sent = await stage.port.mail.send(
        [signal('a', { key: 'k' }), signal('a', { key: 'k' }), signal('a')],
        null,
      )
      expect(sent.map(({ outcome }) => outcome)).toEqual(['stored', 'duplicate', 'stored'])
      expect(await stage.port.mail.list(run, 0)).toHaveLength(2)
    })

    test('a key belongs to its run', async (stage) => {
      const worker = await stage.worker()
      await stage.owned('a', worker)
      await stage.owned('b', worker)
      const sent = await stage.port.mail.send([signal('a', { key: 'k' }), signal('b', { key: 'k' })], null)
      expect(sent.map(({ outcome }) => outcome)).toEqual(['stored', 'stored'])
    })

    test('messages without a key are never duplicates', async (stage) => {
      const { run } = await stage.owned('a', await stage.worker())
      await stage.port.mail.send([signal('a'), signal('a')], null)
      expect(await stage.port.mail.list(run, 0)).toHaveLength(2)
    })

    test('outcomes are in the order of the messages', async (stage) => {
      const worker = await stage.worker()
      await stage.owned('a', worker)
      await stage.ended('b', worker)
      const sent = await stage.port.mail.send(
        [signal('b'), signal('a'), signal('nowhere'), signal('a')],
        null,
      )
      expect(sent.map(({ outcome }) => outcome)).toEqual(['ended', 'stored', 'missing', 'stored'])
    })

    test('an empty send writes nothing', async (stage) => {
      expect(await stage.port.mail.send([], null)).toEqual([])
    })

    test('the sender of a message gets the waiting run in the same transaction', async (stage) => {
      const claimant = await stage.claimant()
      const { run } = await stage.parked('a', claimant.worker)
      const [sent] = await stage.port.mail.send([signal('a')], claimant)
      expect(sent).toMatchObject({
        outcome: 'stored',
        run,
        claimed: { run, id: 'a', epoch: 2, head: 2, mail: 1, version: 1 },
      })
      expect(await stage.find('a')).toMatchObject({ owned: true, wakeAt: null })
    })

    test('a run claimed by sending can be written to', async (stage) => {
      const claimant = await stage.claimant()
      const standing = await stage.parked('a', claimant.worker)
      await stage.port.mail.send([signal('a')], claimant)
      const [outcome] = await stage.port.log.commit(claimant.worker, [
        unitFor({ ...standing, epoch: 2, seen: 1 }, { consumes: [1] }),
      ])
      expect(outcome).toMatchObject({ outcome: 'ok', epoch: 2 })
    })

    test('an owned run is not claimed by a message', async (stage) => {
      const claimant = await stage.claimant()
      await stage.owned('a', await stage.worker())
      expect(await stage.port.mail.send([signal('a')], claimant)).toMatchObject([
        { outcome: 'stored', claimed: null },
      ])
    })

    test('sending does not claim a run the claimant cannot execute', async (stage) => {
      const claimant = await stage.claimant([{ name: 'refund', versions: [2, 3] }])
      await stage.parked('a', claimant.worker)
      expect(await stage.port.mail.send([signal('a')], claimant)).toMatchObject([
        { outcome: 'stored', claimed: null },
      ])
      expect((await stage.find('a')).wakeAt).not.toBeNull()
    })

    test('a dead claimant claims nothing by sending', async (stage) => {
      const claimant = await stage.claimant()
      await stage.parked('a', claimant.worker)
      await stage.port.workers.release(claimant.worker)
      expect(await stage.port.mail.send([signal('a')], claimant)).toMatchObject([
        { outcome: 'stored', claimed: null },
      ])
    })

    test('two messages for one waiting run claim it once, with the mail of both', async (stage) => {
      const claimant = await stage.claimant()
      await stage.parked('a', claimant.worker)
      const sent = await stage.port.mail.send([signal('a'), signal('a')], claimant)
      const claims = sent.flatMap((one) => ('claimed' in one && one.claimed ? one.claimed : []))
      expect(claims).toMatchObject([{ epoch: 2, mail: 2 }])
    })

    test('a duplicate for a run that is due claims it', async (stage) => {
      const claimant = await stage.claimant()
      await stage.parked('a', claimant.worker)
      await stage.port.mail.send([signal('a', { key: 'k' })], null)
      const sent = await stage.port.mail.send([signal('a', { key: 'k' })], claimant)
      expect(sent).toMatchObject([{ outcome: 'duplicate', claimed: { id: 'a', mail: 1 } }])
    })

    test('a run that has not been claimed yet keeps its mail', async (stage) => {
      await stage.port.runs.create([newRun('a')])
      await stage.port.mail.send([signal('a')], null)
      expect((await stage.port.claims.claim(await stage.claimant(), 1)).runs).toMatchObject([
        { mail: 1, epoch: 2 },
      ])
    })
  })

  describe('keys', () => {
    test('a consumed message is not read again, and its key stays taken', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      await stage.port.mail.send([signal('a', { key: 'k' }), signal('a')], null)
      await stage.commit({ ...standing, seen: 2 }, { consumes: [1, 2] })
      expect(await stage.port.mail.list(standing.run, 0)).toEqual([])
      expect(await stage.port.mail.send([signal('a', { key: 'k' })], null)).toMatchObject([
        { outcome: 'duplicate' },
      ])
    })

    test('a key stays taken when its run has ended, and is acknowledged again', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      await stage.port.mail.send([signal('a', { key: 'k' })], null)
      await stage.commit({ ...standing, seen: 1 }, { consumes: [1], next: { do: 'end', state: 'completed' } })
      const sent = await stage.port.mail.send(
        [signal('a', { key: 'k' }), signal('a', { key: 'other' })],
        null,
      )
      expect(sent.map(({ outcome }) => outcome)).toEqual(['duplicate', 'ended'])
    })

    test('a used message keeps its number and loses its payload', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      await stage.port.mail.send([signal('a', { key: 'k' })], null)
      await stage.commit({ ...standing, seen: 1 }, { consumes: [1] })
      expect((await stage.dump()).messages).toMatchObject([{ n: 1, key: 'k', used: true, payload: null }])
    })

    test('only the named messages are consumed', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      await stage.port.mail.send([signal('a'), signal('a'), signal('a')], null)
      await stage.commit({ ...standing, seen: 3 }, { consumes: [2] })
      expect((await stage.port.mail.list(standing.run, 0)).map(({ n }) => n)).toEqual([1, 3])
    })

    test('consuming twice, or a missing message, changes nothing', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      await stage.port.mail.send([signal('a')], null)
      standing.seen = 1
      await stage.commit(standing, { consumes: [1, 1, 99] })
      expect(await stage.commit(standing, { consumes: [1] })).toMatchObject({ outcome: 'ok', mail: 1 })
    })

    test('numbers continue after consumed messages', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      await stage.port.mail.send([signal('a')], null)
      await stage.commit({ ...standing, seen: 1 }, { consumes: [1] })
      await stage.port.mail.send([signal('a')], null)
      expect((await stage.port.mail.list(standing.run, 0)).map(({ n }) => n)).toEqual([2])
    })

    test('consuming in one run leaves the other run alone', async (stage) => {
      const worker = await stage.worker()
      const [a, b] = [await stage.owned('a', worker), await stage.owned('b', worker)]
      await stage.port.mail.send([signal('a'), signal('b')], null)
      await stage.commit({ ...a, seen: 1 }, { consumes: [1] })
      expect(await stage.port.mail.list(b.run, 0)).toHaveLength(1)
    })
  })
}
