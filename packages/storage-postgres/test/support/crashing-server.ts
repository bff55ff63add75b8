import type { StorePort } from '@pawl/core/storage'
import type { PostgresServer } from '../../../../scripts/postgres/server.ts'
import { Ledger } from './ledger.ts'
import { createOwned, newAsk, newEvent, newRun, newUnit, order, type Standing, until } from './units.ts'

interface Options {
  readonly server: PostgresServer
  readonly port: StorePort
  readonly crashes: number
}

interface Report {
  readonly ledger: Ledger
  /** Units whose outcome had to be found out. */
  readonly reclaimed: number
}

/**
 * Works on a server that is stopped without warning and started again, many times: creates, commits, sends,
 * parks and claims. Acknowledged calls are in the ledger.
 */
export async function workThroughCrashes({ server, port, crashes }: Options): Promise<Report> {
  const ledger = new Ledger()
  const worker = await port.workers.register({ name: 'crashing', leaseMs: 3_600_000 })
  const claimant = { worker, procedures: [order] }
  const standings = new Map<number, Standing>()
  const ids = Array.from({ length: 40 }, (_, index) => `crash ${index}`)
  for (const standing of await createOwned(port, worker, ids)) {
    standings.set(standing.run, standing)
    ledger.noteCreated(standing.run, 'started')
  }
  let isOver = false
  let reclaimed = 0
  let serial = 0

  const commit = async (committer: number): Promise<void> => {
    while (!isOver) {
      const mine = [...standings.values()].filter(({ run }) => run % 3 === committer)
      if (mine.length === 0) {
        await new Promise(setImmediate)
        continue
      }
      const units = mine.map((standing) => {
        const name = `${standing.run}/${serial++}`
        const isParking = serial % 5 === 0
        return newUnit(standing, {
          events: [newEvent(name), newEvent(name)].slice(serial % 2),
          opens: serial % 7 === 0 ? [newAsk(standing.head)] : [],
          next: isParking ? { do: 'park', wakeAt: 1 } : { do: 'keep' },
        })
      })
      const outcomes = await port.log.commit(worker, units)
      for (const [index, outcome] of outcomes.entries()) {
        const [standing, unit] = [mine[index], units[index]]
        if (!standing || !unit) continue
        if (outcome.outcome === 'ok') {
          ledger.note(unit)
          if (outcome.epoch !== standing.epoch) reclaimed++
          if (outcome.parked) standings.delete(standing.run)
          else
            Object.assign(standing, {
              epoch: outcome.epoch,
              head: standing.head + unit.events.length,
              mail: outcome.mail,
            })
        } else if (outcome.outcome === 'lost') {
          reclaimed++
          standing.epoch = outcome.epoch
        } else throw new Error(`a unit was ${outcome.outcome}`)
      }
    }
  }
  const claim = async (): Promise<void> => {
    while (!isOver) {
      const claims = await port.claims.claim(claimant, 10).catch(() => null)
      for (const { run, epoch, head, mail } of claims?.runs ?? [])
        standings.set(run, { run, epoch, head, mail })
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
  }
  // As clients do: what was not acknowledged is asked for again, with the same id.
  const create = async (): Promise<void> => {
    for (let index = 0; !isOver; ) {
      const [created] = await port.runs.create([newRun(`new ${index}`)]).catch(() => [])
      if (!created) continue
      ledger.noteCreated(created.run, 'started')
      const message = {
        run: `new ${index}`,
        kind: 'signal',
        name: 's',
        key: null,
        by: null,
        payload: null,
      } as const
      await port.mail.send([message], null).catch(() => [])
      await new Promise((resolve) => setTimeout(resolve, 10))
      index++
    }
  }

  const work = Promise.all([commit(0), commit(1), commit(2), claim(), create()])
  work.catch(() => {})
  for (let crash = 0; crash < crashes; crash++) {
    // Work is under way again, and then at any moment.
    const before = ledger.count
    await Promise.race([work, until(() => ledger.count > before + 20)])
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 50))
    await server.stop('immediate')
    await server.start()
  }
  await new Promise((resolve) => setTimeout(resolve, 100))
  isOver = true
  await work
  return { ledger, reclaimed }
}
