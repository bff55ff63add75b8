import type { RunRow } from '@pawl/core/storage'
import { describe, expect } from 'vitest'
import { allRuns, bytes, later, longAgo, newRun } from '../builders.ts'
import type { Stage, StageTest } from '../stage.ts'

export function describeRunList(test: StageTest): void {
  describe('list of runs', () => {
    test('the list of runs is empty without runs', async (stage) => {
      expect(await stage.port.runs.list(allRuns())).toEqual([])
      expect(await stage.port.runs.find('a')).toBeNull()
    })

    test('runs are listed newest first', async (stage) => {
      await stage.port.runs.create(['a', 'b', 'c'].map((id) => newRun(id)))
      expect(ids(await stage.port.runs.list(allRuns()))).toEqual(['c', 'b', 'a'])
    })

    test('a row of the list equals the run read alone', async (stage) => {
      await stage.port.runs.create([newRun('a', { tags: ['x'], startedBy: 'user:amy' })])
      expect(await stage.port.runs.list(allRuns())).toEqual([await stage.port.runs.find('a')])
    })

    test('pages of any size make up the list of runs', async (stage) => {
      await stage.port.runs.create(Array.from({ length: 25 }, (_, index) => newRun(`run ${index}`)))
      const whole = await stage.port.runs.list(allRuns())
      const pages: RunRow[] = []
      let page = await stage.port.runs.list(allRuns({ limit: 10 }))
      while (page.length > 0 && pages.length <= whole.length) {
        pages.push(...page)
        page = await stage.port.runs.list(allRuns({ limit: 10, before: pages.at(-1)?.run ?? null }))
      }
      expect(pages).toEqual(whole)
      expect(await stage.port.runs.list(allRuns({ limit: 0 }))).toEqual([])
    })

    test('a run created between two pages does not disturb them', async (stage) => {
      await stage.port.runs.create(['a', 'b', 'c'].map((id) => newRun(id)))
      const first = await stage.port.runs.list(allRuns({ limit: 2 }))
      await stage.port.runs.create([newRun('d')])
      expect(ids(await stage.port.runs.list(allRuns({ before: first.at(-1)?.run ?? null })))).toEqual(['a'])
    })

    test('each status has its runs', async (stage) => {
      await oneOfEach(stage)
      const expected = {
        running: ['due', 'owned'],
        waiting: ['deadline', 'parked'],
        stuck: ['stuck'],
        quarantined: ['quarantined'],
        completed: ['completed'],
        failed: ['failed'],
        cancelled: ['cancelled'],
      } as const
      for (const [status, runs] of Object.entries(expected)) {
        const statuses = [status as keyof typeof expected]
        expect([status, ids(await stage.port.runs.list(allRuns({ statuses }))).sort()]).toEqual([
          status,
          [...runs],
        ])
      }
    })

    test('several statuses list the runs of all', async (stage) => {
      await oneOfEach(stage)
      const statuses = ['stuck', 'failed', 'waiting'] as const
      expect(ids(await stage.port.runs.list(allRuns({ statuses }))).sort()).toEqual([
        'deadline',
        'failed',
        'parked',
        'stuck',
      ])
      expect(await stage.port.runs.list(allRuns())).toHaveLength(9)
    })

    test('a stuck run that is retried is still listed as stuck', async (stage) => {
      const claimant = await stage.claimant()
      const { run, worker } = await stage.owned('a', claimant.worker)
      await stage.port.runs.mark(worker, run, 1, 'stuck', bytes('why'))
      await stage.port.claims.retryStuck(claimant)
      await stage.port.claims.claim(claimant, 1)
      expect(ids(await stage.port.runs.list(allRuns({ statuses: ['stuck'] })))).toEqual(['a'])
      expect(ids(await stage.port.runs.list(allRuns({ statuses: ['running'] })))).toEqual([])
    })

    test('a tag lists its runs, by exact match', async (stage) => {
      await stage.port.runs.create([
        newRun('a', { tags: ['shop', 'vip'] }),
        newRun('b', { tags: ['shopping', 'VIP'] }),
        newRun('c', { tags: ['shop'] }),
        newRun('d', { tags: ['sh%', 'vip', 'vip'] }),
        newRun('e', { tags: ['say "shop"'] }),
      ])
      expect(ids(await stage.port.runs.list(allRuns({ tag: 'shop' })))).toEqual(['c', 'a'])
      expect(ids(await stage.port.runs.list(allRuns({ tag: 'vip' })))).toEqual(['d', 'a'])
      expect(ids(await stage.port.runs.list(allRuns({ tag: 'sh%' })))).toEqual(['d'])
      expect(ids(await stage.port.runs.list(allRuns({ tag: 'no-run' })))).toEqual([])
    })

    test('filters are combined', async (stage) => {
      await stage.port.runs.create([
        newRun('a', { tags: ['x'] }),
        newRun('b', { tags: ['x'], procedure: 'order' }),
        newRun('c', { procedure: 'order' }),
      ])
      await stage.ended('d', await stage.worker())
      expect(ids(await stage.port.runs.list(allRuns({ procedure: 'order' })))).toEqual(['c', 'b'])
      expect(ids(await stage.port.runs.list(allRuns({ procedure: 'order', tag: 'x' })))).toEqual(['b'])
      const last = await stage.find('b')
      const filter = allRuns({ procedure: 'refund', statuses: ['running', 'completed'], before: last.run })
      expect(ids(await stage.port.runs.list(filter))).toEqual(['a'])
    })
  })
}

/** Creates one run for each status, named after it. */
async function oneOfEach(stage: Stage): Promise<void> {
  const worker = await stage.worker()
  await stage.owned('owned', worker)
  await stage.parked('due', worker, { next: { do: 'park', wakeAt: longAgo } })
  await stage.parked('parked', worker)
  await stage.parked('deadline', worker, { next: { do: 'park', wakeAt: later } })
  for (const state of ['completed', 'failed', 'cancelled'] as const) await stage.ended(state, worker, state)
  for (const mark of ['stuck', 'quarantined'] as const) {
    const { run } = await stage.owned(mark, worker)
    await stage.port.runs.mark(worker, run, 1, mark, bytes('why'))
  }
}

function ids(rows: readonly RunRow[]): string[] {
  return rows.map(({ id }) => id)
}
