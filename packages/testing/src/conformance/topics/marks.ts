import type { Claimant } from '@pawl/core/storage'
import { describe, expect } from 'vitest'
import { answerTo, bytes, newAsk, type Standing, signal, text } from '../builders.ts'
import type { Stage, StageTest } from '../stage.ts'

export function describeMarks(test: StageTest): void {
  describe('marks', () => {
    for (const mark of ['stuck', 'quarantined'] as const) {
      test(`a run marked ${mark} has no owner, is not due, and stores the reason`, async (stage) => {
        const claimant = await stage.claimant()
        const { worker, run } = await stage.owned('a', claimant.worker)
        expect(await stage.port.runs.mark(worker, run, 1, mark, bytes('why'))).toBe(true)
        const row = await stage.find('a')
        expect(row).toMatchObject({ mark, owned: false, wakeAt: null, state: 'live', head: 1 })
        expect(text(row.reason)).toBe('why')
        expect((await stage.port.claims.claim(claimant, 10)).runs).toEqual([])
      })
    }

    test('a mark raises the epoch', async (stage) => {
      await mark(stage, await stage.owned('a', await stage.worker()))
      expect((await stage.dump()).runs).toMatchObject([{ epoch: 2, worker: null }])
    })

    test('only the owner marks, with its epoch', async (stage) => {
      const { run, worker } = await stage.owned('a', await stage.worker())
      const refused = [
        await stage.port.runs.mark(await stage.worker(), run, 1, 'stuck', bytes('why')),
        await stage.port.runs.mark(worker, run, 2, 'stuck', bytes('why')),
        await stage.port.runs.mark(worker, run, 0, 'stuck', bytes('why')),
        await stage.port.runs.mark(worker, 4711, 1, 'stuck', bytes('why')),
      ]
      expect(refused).toEqual([false, false, false, false])
      expect(await stage.find('a')).toMatchObject({ mark: 'none', owned: true, reason: null })
    })

    test('an ended run is not marked', async (stage) => {
      const { run, worker } = await stage.ended('a', await stage.worker())
      expect(await stage.port.runs.mark(worker, run, 1, 'stuck', bytes('why'))).toBe(false)
    })

    test('a marked run accepts messages without waking', async (stage) => {
      const claimant = await stage.claimant()
      await mark(stage, await stage.owned('a', claimant.worker))
      expect(await stage.port.mail.send([signal('a')], claimant)).toMatchObject([
        { outcome: 'stored', claimed: null },
      ])
      expect(await stage.find('a')).toMatchObject({ mail: 1, wakeAt: null, owned: false })
    })

    test('a marked run accepts answers without waking', async (stage) => {
      const claimant = await stage.claimant()
      const standing = await stage.owned('a', claimant.worker)
      await stage.commit(standing, { opens: [newAsk(3)] })
      await mark(stage, standing)
      expect(await stage.port.asks.answer([answerTo('a', 3)], claimant)).toMatchObject([
        { outcome: 'answered', claimed: null },
      ])
      expect(await stage.find('a')).toMatchObject({ mail: 1, wakeAt: null, owned: false })
    })

    test('stuck runs are retried on request, and the claimant sees the mark and the mail', async (stage) => {
      const claimant = await stage.claimant()
      await mark(stage, await stage.owned('a', claimant.worker))
      await stage.port.mail.send([signal('a')], null)
      expect(await stage.port.claims.retryStuck(claimant)).toBe(1)
      expect((await stage.port.claims.claim(claimant, 10)).runs).toMatchObject([
        { id: 'a', mark: 'stuck', mail: 1, epoch: 3 },
      ])
    })

    test('a stuck run stays marked until something is committed', async (stage) => {
      const claimant = await stage.claimant()
      const { standing } = await retry(stage, claimant)
      expect(await stage.find('a')).toMatchObject({ mark: 'stuck', owned: true })
      await stage.commit(standing)
      expect(await stage.find('a')).toMatchObject({ mark: 'none', owned: true, reason: null })
    })

    test('a stuck run that is parked again waits like any other', async (stage) => {
      const claimant = await stage.claimant()
      const { standing } = await retry(stage, claimant)
      await stage.commit(standing, { next: { do: 'park', wakeAt: null } })
      expect(await stage.port.mail.send([signal('a')], claimant)).toMatchObject([
        { claimed: { id: 'a', mark: 'none' } },
      ])
    })

    test('a stuck run can be marked again, with another reason', async (stage) => {
      const claimant = await stage.claimant()
      const { standing } = await retry(stage, claimant)
      expect(
        await stage.port.runs.mark(claimant.worker, standing.run, standing.epoch, 'stuck', bytes('still')),
      ).toBe(true)
      expect(text((await stage.find('a')).reason)).toBe('still')
    })

    test('a stuck run becomes due at the time of its mark, and is retried before if requested', async (stage) => {
      const claimant = await stage.claimant()
      const passed = await stage.owned('passed', claimant.worker)
      const later = await stage.owned('later', claimant.worker)
      const wakeAt = (await stage.port.now()) + 3_600_000
      await stage.port.runs.mark(claimant.worker, passed.run, 1, 'stuck', bytes('why'), undefined, 0, 1)
      await stage.port.runs.mark(claimant.worker, later.run, 1, 'stuck', bytes('why'), undefined, 0, wakeAt)
      expect(await stage.find('later')).toMatchObject({ mark: 'stuck', wakeAt })
      expect((await stage.port.claims.claim(claimant, 10)).runs).toMatchObject([
        { id: 'passed', mark: 'stuck' },
      ])
      expect(await stage.port.claims.retryStuck(claimant)).toBe(1)
      expect((await stage.port.claims.claim(claimant, 10)).runs).toMatchObject([
        { id: 'later', mark: 'stuck' },
      ])
    })

    test('quarantined runs are not retried', async (stage) => {
      const claimant = await stage.claimant()
      const { run, worker } = await stage.owned('a', claimant.worker)
      await stage.port.runs.mark(worker, run, 1, 'quarantined', bytes('why'))
      expect(await stage.port.claims.retryStuck(claimant)).toBe(0)
      expect((await stage.port.claims.claim(claimant, 10)).runs).toEqual([])
    })

    test('only runs that the claimant can execute are retried', async (stage) => {
      const worker = await stage.worker()
      await mark(stage, await stage.owned('a', worker, { version: 1 }))
      await mark(stage, await stage.owned('b', worker, { version: 2 }))
      await mark(stage, await stage.owned('c', worker, { procedure: 'order' }))
      expect(
        await stage.port.claims.retryStuck(await stage.claimant([{ name: 'refund', versions: [2] }])),
      ).toBe(1)
      expect(await stage.find('b')).toMatchObject({ mark: 'stuck', wakeAt: expect.any(Number) })
      expect(await stage.find('a')).toMatchObject({ wakeAt: null })
      expect(await stage.find('c')).toMatchObject({ wakeAt: null })
    })

    test('runs that are not stuck are left alone', async (stage) => {
      const claimant = await stage.claimant()
      await stage.parked('a', claimant.worker)
      await stage.owned('b', claimant.worker)
      await stage.ended('c', claimant.worker)
      expect(await stage.port.claims.retryStuck(claimant)).toBe(0)
      expect(await stage.find('a')).toMatchObject({ wakeAt: null })
    })

    test('retrying a run that is already due changes nothing', async (stage) => {
      const claimant = await stage.claimant()
      await mark(stage, await stage.owned('a', claimant.worker))
      expect(await stage.port.claims.retryStuck(claimant)).toBe(1)
      expect(await stage.port.claims.retryStuck(claimant)).toBe(0)
    })

    for (const cause of ['damage', 'crashes', 'fault'] as const)
      test(`a quarantine keeps the cause ${cause}`, async (stage) => {
        const { run, worker } = await stage.owned('a', await stage.worker())
        await stage.port.runs.mark(worker, run, 1, 'quarantined', bytes('why'), cause)
        expect(await stage.find('a')).toMatchObject({ cause })
      })

    test('a run has a cause only while it is quarantined', async (stage) => {
      const claimant = await stage.claimant()
      const { run, worker } = await stage.owned('a', claimant.worker)
      expect(await stage.find('a')).toMatchObject({ cause: null })
      await stage.port.runs.mark(worker, run, 1, 'quarantined', bytes('why'), 'crashes')
      expect(await stage.port.runs.retry(run, 'quarantined')).toBe(true)
      expect(await stage.find('a')).toMatchObject({ cause: null })
      const [claimed] = (await stage.port.claims.claim(claimant, 1)).runs
      await stage.port.runs.mark(worker, run, claimed?.epoch ?? 0, 'stuck', bytes('why'))
      expect(await stage.find('a')).toMatchObject({ mark: 'stuck', cause: null })
    })

    test('one stuck run is retried: due for any worker, and marked until something is committed', async (stage) => {
      const claimant = await stage.claimant()
      const { run } = await stage.owned('a', claimant.worker)
      const other = await stage.owned('b', claimant.worker)
      await stage.port.runs.mark(claimant.worker, run, 1, 'stuck', bytes('why'))
      await mark(stage, other)
      expect(await stage.port.runs.retry(run, 'stuck')).toBe(true)
      const row = await stage.find('a')
      expect(row).toMatchObject({ mark: 'stuck', owned: false })
      expect(text(row.reason)).toBe('why')
      expect((await stage.port.claims.claim(await stage.claimant(), 10)).runs).toMatchObject([
        { id: 'a', mark: 'stuck', epoch: 3 },
      ])
      expect(await stage.find('b')).toMatchObject({ mark: 'stuck', wakeAt: null })
    })

    test('retrying a run that is due keeps its due time', async (stage) => {
      const { run, worker } = await stage.owned('a', await stage.worker())
      await stage.port.runs.mark(worker, run, 1, 'stuck', bytes('why'))
      expect(await stage.port.runs.retry(run, 'stuck')).toBe(true)
      const { wakeAt } = await stage.find('a')
      await stage.passed((await stage.port.now()) + 2)
      expect(await stage.port.runs.retry(run, 'stuck')).toBe(true)
      expect(await stage.find('a')).toMatchObject({ wakeAt })
    })

    test('a quarantined run is released: due, unmarked, without a reason, its tries at 0', async (stage) => {
      await stage.owned('a', await stage.doomedWorker())
      await stage.port.workers.sweep()
      const claimant = await stage.claimant()
      const [claimed] = (await stage.port.claims.claim(claimant, 1)).runs
      const { run, epoch } = claimed ?? { run: 0, epoch: 0 }
      await stage.port.runs.mark(claimant.worker, run, epoch, 'quarantined', bytes('why'), 'crashes')
      expect(await stage.find('a')).toMatchObject({ mark: 'quarantined', tries: 1 })
      expect(await stage.port.runs.retry(run, 'quarantined')).toBe(true)
      expect(await stage.find('a')).toMatchObject({ mark: 'none', reason: null, tries: 0 })
      expect((await stage.port.claims.claim(claimant, 10)).runs).toMatchObject([
        { id: 'a', mark: 'none', tries: 0 },
      ])
    })

    test('a released run is woken by messages as any other', async (stage) => {
      const claimant = await stage.claimant()
      const { run, worker } = await stage.owned('a', claimant.worker)
      await stage.port.runs.mark(worker, run, 1, 'quarantined', bytes('why'), 'fault')
      await stage.port.mail.send([signal('a')], null)
      await stage.port.runs.retry(run, 'quarantined')
      expect((await stage.port.claims.claim(claimant, 10)).runs).toMatchObject([{ id: 'a', mail: 1 }])
    })

    test('runs with another mark, owned, ended and missing runs are not retried', async (stage) => {
      const claimant = await stage.claimant()
      const { worker } = claimant
      const stuck = await stage.owned('stuck', worker)
      await mark(stage, stuck)
      expect(await stage.port.runs.retry(stuck.run, 'quarantined')).toBe(false)
      const quarantined = await stage.owned('quarantined', worker)
      await stage.port.runs.mark(worker, quarantined.run, 1, 'quarantined', bytes('why'), 'damage')
      expect(await stage.port.runs.retry(quarantined.run, 'stuck')).toBe(false)
      const parked = await stage.parked('parked', worker)
      expect(await stage.port.runs.retry(parked.run, 'stuck')).toBe(false)
      const ended = await stage.ended('ended', worker)
      expect(await stage.port.runs.retry(ended.run, 'stuck')).toBe(false)
      expect(await stage.port.runs.retry(4711, 'stuck')).toBe(false)
      const before = await stage.dump()
      expect(before.runs.map(({ wakeAt }) => wakeAt)).toEqual([null, null, null, null])
      await stage.port.claims.retryStuck(claimant)
      await stage.port.claims.claim(claimant, 10)
      expect(await stage.port.runs.retry(stuck.run, 'stuck')).toBe(false)
      expect(await stage.find('stuck')).toMatchObject({ owned: true, wakeAt: null })
    })

    test('a stuck run whose owner dies is due again, still marked', async (stage) => {
      await mark(stage, await stage.owned('a', await stage.worker()))
      const doomed = { worker: await stage.doomedWorker(), procedures: [{ name: 'refund', versions: [1] }] }
      await stage.port.claims.retryStuck(doomed)
      await stage.port.claims.claim(doomed, 10)
      expect(await stage.port.workers.sweep()).toBe(1)
      expect((await stage.port.claims.claim(await stage.claimant(), 10)).runs).toMatchObject([
        { mark: 'stuck', tries: 1 },
      ])
    })
  })
}

async function mark(stage: Stage, { worker, run, epoch }: Standing): Promise<void> {
  expect(await stage.port.runs.mark(worker, run, epoch, 'stuck', bytes('why'))).toBe(true)
}

/** Creates run `a`, stuck and claimed for a retry. */
async function retry(stage: Stage, claimant: Claimant): Promise<{ readonly standing: Standing }> {
  const standing = await stage.owned('a', claimant.worker)
  await mark(stage, standing)
  await stage.port.claims.retryStuck(claimant)
  const [claimed] = (await stage.port.claims.claim(claimant, 1)).runs
  return { standing: { ...standing, epoch: claimed?.epoch ?? 0 } }
}
