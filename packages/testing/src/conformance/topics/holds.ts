import type { NewMessage } from '@pawl/core/storage'
import { describe, expect } from 'vitest'
import { answerTo, bytes, newAsk, outgoing, signal, unitFor } from '../builders.ts'
import type { StageTest } from '../stage.ts'

const longMs = 3_600_000
const update = (run: string): NewMessage => signal(run, { kind: 'update', key: 'update:1' })

export function describeHolds(test: StageTest): void {
  describe('holding messages back', () => {
    test('a held run takes no signal and no update, and another run does', async (stage) => {
      const worker = await stage.worker()
      const a = await stage.owned('a', worker)
      await stage.owned('b', worker)
      await stage.port.mail.send([signal('a')], null)
      expect(await stage.port.mail.hold(worker, a.run, a.epoch, longMs)).toBe(1)
      expect(await stage.port.mail.send([signal('a')], null)).toEqual([{ outcome: 'held' }])
      expect(
        await stage.port.mail.send([signal('a', { key: 'signal:1' }), signal('b'), update('a')], null),
      ).toMatchObject([{ outcome: 'held' }, { outcome: 'stored' }, { outcome: 'held' }])
      expect(await stage.find('a')).toMatchObject({ mail: 1, owned: true })
    })

    test('a message that is stored already is acknowledged again', async (stage) => {
      const worker = await stage.worker()
      const a = await stage.owned('a', worker)
      await stage.port.mail.send([update('a')], null)
      await stage.port.mail.hold(worker, a.run, a.epoch, longMs)
      expect(await stage.port.mail.send([update('a')], null)).toMatchObject([{ outcome: 'duplicate' }])
    })

    test('answers, early answers and cancels are not held back', async (stage) => {
      const worker = await stage.worker()
      const a = await stage.owned('a', worker)
      await stage.commit(a, { opens: [newAsk(0)] })
      await stage.port.mail.hold(worker, a.run, a.epoch, longMs)
      expect(await stage.port.asks.answer([answerTo('a', 0)], null)).toMatchObject([{ outcome: 'answered' }])
      const early = signal('a', { kind: 'early', name: 'key', key: 'early:key' })
      expect(await stage.port.mail.send([early], null)).toMatchObject([{ outcome: 'stored' }])
      expect(await stage.port.mail.cancel({ run: 'a', payload: bytes('why') }, null)).toMatchObject({
        outcome: 'stored',
      })
      expect(await stage.find('a')).toMatchObject({ mail: 3 })
    })

    test('a unit that must send a signal or a watch is refused', async (stage) => {
      const worker = await stage.worker()
      const a = await stage.owned('a', worker)
      const b = await stage.owned('b', worker)
      await stage.port.mail.hold(worker, a.run, a.epoch, longMs)
      for (const kind of ['signal', 'watch'] as const) {
        const sends = [outgoing('a', { kind: 'cancel' }), outgoing('a', { kind, must: true })]
        expect(await stage.port.log.commit(worker, [unitFor(b, { sends })])).toEqual([
          { outcome: 'refused', item: 1, why: 'held' },
        ])
      }
      expect(await stage.find('a')).toMatchObject({ mail: 0, cancelAt: null })
    })

    test('the ends of other runs arrive, also if they must, as does what need not', async (stage) => {
      const worker = await stage.worker()
      const a = await stage.owned('a', worker)
      const b = await stage.owned('b', worker)
      await stage.port.mail.hold(worker, a.run, a.epoch, longMs)
      const sends = [
        outgoing('a', { kind: 'ended', must: true }),
        outgoing('a', { kind: 'cancel', must: true }),
        outgoing('a', { kind: 'signal', must: false }),
      ]
      expect(await stage.commit(b, { sends })).toMatchObject({ outcome: 'ok' })
      expect((await stage.port.mail.list(a.run, 0)).map(({ kind }) => kind)).toEqual([
        'ended',
        'cancel',
        'signal',
      ])
    })

    test('a hold of no time ends it', async (stage) => {
      const worker = await stage.worker()
      const a = await stage.owned('a', worker)
      await stage.port.mail.hold(worker, a.run, a.epoch, longMs)
      await stage.port.mail.hold(worker, a.run, a.epoch, 0)
      expect(await stage.port.mail.send([signal('a')], null)).toMatchObject([{ outcome: 'stored' }])
    })

    test('a run that ends has no hold and is not due', async (stage) => {
      const worker = await stage.worker()
      const end = { do: 'end', state: 'completed' } as const
      for (const [id, parts] of [
        ['alone', {}],
        ['with others', { sends: [outgoing('nowhere', { must: false })] }],
      ] as const) {
        const standing = await stage.owned(id, worker)
        await stage.port.mail.hold(worker, standing.run, standing.epoch, longMs)
        await stage.commit(standing, { ...parts, next: end, strict: true })
        expect(await stage.find(id)).toMatchObject({ owned: false, wakeAt: null })
        expect(await stage.port.mail.send([signal(id)], null)).toEqual([
          { outcome: 'ended', state: 'completed' },
        ])
      }
      const both = [await stage.owned('a', worker), await stage.owned('b', worker)]
      for (const { run, epoch } of both) await stage.port.mail.hold(worker, run, epoch, longMs)
      await stage.port.log.commit(
        worker,
        both.map((standing) => unitFor(standing, { next: end })),
      )
      expect(await stage.find('b')).toMatchObject({ owned: false, wakeAt: null })
    })

    test('a parked run has no hold', async (stage) => {
      const worker = await stage.worker()
      const a = await stage.owned('a', worker)
      await stage.port.mail.hold(worker, a.run, a.epoch, longMs)
      await stage.commit(a, { next: { do: 'park', wakeAt: null } })
      expect(await stage.find('a')).toMatchObject({ owned: false, wakeAt: null })
      expect(await stage.port.mail.send([signal('a')], null)).toMatchObject([{ outcome: 'stored' }])
    })

    test('a run that its worker has released, or lost, has no hold', async (stage) => {
      const worker = await stage.worker()
      const a = await stage.owned('a', worker)
      const b = await stage.owned('b', await stage.doomedWorker())
      await stage.port.mail.hold(worker, a.run, a.epoch, longMs)
      await stage.port.mail.hold(b.worker, b.run, b.epoch, longMs)
      await stage.port.workers.release(worker)
      await stage.port.workers.sweep()
      const next = await stage.claimant()
      for (const { id, run, epoch, worker: before } of [a, b]) {
        const { wakeAt, owned } = await stage.find(id)
        expect(owned).toBe(false)
        expect(wakeAt).toBeLessThanOrEqual(await stage.port.now())
        expect(await stage.port.mail.send([signal(id)], null)).toMatchObject([{ outcome: 'stored' }])
        const [claimed] = (await stage.port.claims.claim(next, 1)).runs
        expect(claimed?.run).toBe(run)
        expect(await stage.port.mail.send([signal(id)], null)).toMatchObject([{ outcome: 'stored' }])
        expect(await stage.port.mail.hold(before, run, epoch, longMs)).toBeNull()
        expect(await stage.port.mail.hold(next.worker, run, epoch, longMs)).toBeNull()
        expect(await stage.port.mail.hold(before, run, claimed?.epoch ?? 0, longMs)).toBeNull()
        expect(await stage.port.mail.send([signal(id)], null)).toMatchObject([{ outcome: 'stored' }])
      }
    })
  })
}
