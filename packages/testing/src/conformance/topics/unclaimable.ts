import type { ProcedureVersions, WholeStore } from '@pawl/core/storage'
import { describe, expect } from 'vitest'
import { later, newRun } from '../builders.ts'
import type { StageTest } from '../stage.ts'

const refund = { name: 'refund', versions: [1, 2] }
const order = { name: 'order', versions: [7] }

export function describeUnclaimable(test: StageTest): void {
  describe('abilities', () => {
    test('without a worker there are no abilities', async (stage) => {
      expect(await stage.port.workers.abilities()).toEqual([])
    })

    test('abilities are what live workers can execute, on every connection', async (stage) => {
      await register(stage.port, [refund])
      const other = await stage.connect()
      await register(other, [order])
      await register(other, [])
      for (const port of [stage.port, other])
        expect(sort(await port.workers.abilities())).toEqual([order, refund])
    })

    test('names of abilities are stored as given', async (stage) => {
      const odd = { name: `"quoted", 'and' {bræced} \u{1f40c}`, versions: [1] }
      await register(stage.port, [odd])
      expect(await stage.port.workers.abilities()).toEqual([odd])
    })

    test('abilities of dead or released workers do not count', async (stage) => {
      await register(stage.port, [refund], -1_000)
      await stage.port.workers.sweep()
      const released = await register(stage.port, [refund])
      await stage.port.workers.release(released)
      await register(stage.port, [order])
      expect(await stage.port.workers.abilities()).toEqual([order])
    })

    test('abilities of a worker whose lease has expired do not count', async (stage) => {
      await register(stage.port, [refund], -1_000)
      expect(await stage.port.workers.abilities()).toEqual([])
    })

    test('abilities are unknown with a live worker that does not report them', async (stage) => {
      await register(stage.port, [refund])
      const silent = await stage.worker()
      expect(await stage.port.workers.abilities()).toBe(null)
      await stage.port.workers.release(silent)
      expect(await stage.port.workers.abilities()).toEqual([refund])
    })
  })

  describe('the backlog', () => {
    test('the backlog is empty if no run is due', async (stage) => {
      const claimant = await stage.claimant()
      await stage.owned('owned', claimant.worker)
      await stage.parked('waiting', claimant.worker)
      await stage.parked('later', claimant.worker, { next: { do: 'park', wakeAt: later } })
      await stage.ended('ended', claimant.worker)
      expect(await stage.port.claims.backlog()).toEqual([])
    })

    test('the backlog has each procedure and version once, with its longest due run and the number of runs', async (stage) => {
      const { worker } = await stage.claimant()
      await stage.parked('oldest', worker, { next: { do: 'park', wakeAt: 10 } })
      await stage.parked('newer', worker, { next: { do: 'park', wakeAt: 20 } })
      await stage.parked('later', worker, { next: { do: 'park', wakeAt: later } })
      await stage.port.runs.create([
        newRun('a', { version: 2 }),
        newRun('b', { version: null }),
        newRun('c', { procedure: 'order', version: null }),
        newRun('d', { procedure: 'zebra', version: 3 }),
      ])
      expect(sort(await stage.port.claims.backlog())).toEqual([
        { procedure: 'order', version: null, oldest: 'c', count: 1 },
        { procedure: 'refund', version: 1, oldest: 'oldest', count: 2 },
        { procedure: 'refund', version: 2, oldest: 'a', count: 1 },
        { procedure: 'refund', version: null, oldest: 'b', count: 1 },
        { procedure: 'zebra', version: 3, oldest: 'd', count: 1 },
      ])
    })

    test('the backlog includes a stuck run that is retried', async (stage) => {
      const { run, worker } = await stage.owned('a', await stage.worker())
      await stage.port.runs.mark(worker, run, 1, 'stuck', new Uint8Array([1]))
      expect(await stage.port.claims.backlog()).toEqual([])
      await stage.port.runs.retry(run, 'stuck')
      expect(await stage.port.claims.backlog()).toEqual([
        { procedure: 'refund', version: 1, oldest: 'a', count: 1 },
      ])
    })

    test('the backlog counts at most a thousand runs', async (stage) => {
      const runs = Array.from({ length: 1_001 }, (_, index) => newRun(`run ${index}`))
      await stage.port.runs.create(runs)
      expect(await stage.port.claims.backlog()).toMatchObject([{ count: 1_000 }])
    })
  })
}

function register(port: WholeStore, procedures: readonly ProcedureVersions[], leaseMs = 60_000) {
  return port.workers.register({ name: 'test', leaseMs, procedures })
}

function sort<One>(list: readonly One[] | null): readonly One[] {
  return [...(list ?? [])].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
}
