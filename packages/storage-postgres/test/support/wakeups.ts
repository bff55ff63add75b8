import type { Store, StorePort } from '@pawl/core/storage'
import type { TestDatabase } from '../../../../test/support/postgres-database.ts'
import { newEvent, newRun, newUnit, open, order, type Standing } from './units.ts'

interface Options {
  readonly database: TestDatabase
  /** One connection to this per worker and per sender. */
  readonly store: () => Store
  readonly messages: number
  /** Messages go to so many runs at a time, which makes them meet. */
  readonly runs: number
}

interface Report {
  /** Units that would have parked their run and met a message. */
  readonly refusedParks: number
  /** Messages that are never read: their runs are neither owned nor due. */
  readonly stranded: number
}

/**
 * Messages are sent to runs that are being parked at the same moment. Two workers read what there is and park
 * again; nothing sweeps, nothing is hinted at.
 */
export async function sendWhileParking({ database, store, messages, runs }: Options): Promise<Report> {
  const ports = await Promise.all(Array.from({ length: 6 }, () => open(store())))
  const [first, second, ...senders] = ports
  if (!first || !second) throw new Error('not opened')
  await first.runs.create(Array.from({ length: runs }, (_, index) => newRun(`run ${index}`)))
  let isSending = true
  let refusedParks = 0
  const work = async (port: StorePort): Promise<void> => {
    const worker = await port.workers.register({ name: 'w', leaseMs: 3_600_000 })
    while (isSending || (await countRunnable(database)) > 0) {
      const { runs } = await port.claims.claim({ worker, procedures: [order] }, 20)
      let owned: Standing[] = runs.map(({ run, epoch, head, mail }) => ({ run, epoch, head, mail }))
      while (owned.length > 0) {
        const units = await Promise.all(
          owned.map(async (standing) => {
            const read = await port.mail.list(standing.run, 0)
            const seen = Math.max(standing.mail, ...read.map(({ n }) => n))
            return newUnit(standing, {
              events: [newEvent('read')],
              consumes: read.map(({ n }) => n),
              seen,
              next: { do: 'park', wakeAt: null },
            })
          }),
        )
        const outcomes = await port.log.commit(worker, units)
        owned = owned.flatMap((standing, index) => {
          const outcome = outcomes[index]
          if (outcome?.outcome !== 'ok') throw new Error(`a unit was ${outcome?.outcome}`)
          if (outcome.parked) return []
          refusedParks++
          return [{ ...standing, head: standing.head + 1, mail: units[index]?.seen ?? 0 }]
        })
      }
    }
  }
  const working = Promise.all([work(first), work(second)])
  working.catch(() => {})
  let left = messages
  await Promise.all(
    senders.map(async (port) => {
      while (left-- > 0) {
        const run = `run ${Math.floor(Math.random() * runs)}`
        await port.mail.send([{ run, kind: 'signal', name: 's', key: null, by: null, payload: null }], null)
      }
    }),
  )
  isSending = false
  await working
  const { rows } = await database.owner.query(
    'select count(*)::int as count from pawl.messages where not used',
  )
  await Promise.all(ports.map((port) => port.close()))
  return { refusedParks, stranded: rows[0].count }
}

async function countRunnable({ owner }: TestDatabase): Promise<number> {
  const { rows } = await owner.query(
    'select count(*)::int as count from pawl.runs where worker is not null or wake_at is not null',
  )
  return rows[0].count
}
