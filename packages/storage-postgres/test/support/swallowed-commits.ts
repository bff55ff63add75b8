import type { StorePort, Unit } from '@pawl/core/storage'
import type { TcpProxy } from '../../../../test/support/tcp-proxy.ts'
import { Ledger } from './ledger.ts'
import { createOwned, newAsk, newEvent, newUnit, type Standing } from './units.ts'

interface Options {
  readonly port: StorePort
  readonly proxy: TcpProxy
  readonly worker: number
  readonly runs: number
  /** Ends when so many commits, or their replies, were lost. */
  readonly unknown: number
}

interface Report {
  readonly ledger: Ledger
  /** Commits whose reply, or which themselves, got lost. */
  readonly unknown: number
}

/**
 * Commits through a network that loses replies, and delays and loses requests, also the ones that find out what
 * became of others.
 */
export async function swallowCommits({
  port,
  proxy,
  worker,
  runs,
  unknown: wanted,
}: Options): Promise<Report> {
  const ledger = new Ledger()
  const ids = Array.from({ length: runs }, (_, index) => `unknown ${index}`)
  const standings = await createOwned(port, worker, ids)
  for (const { run } of standings) ledger.noteCreated(run, 'started')
  let unknown = 0
  proxy.decide = (text) => {
    const isFinding = text.includes('raised as')
    if (!isFinding && !text.includes('judged as') && !text.includes('set head = head + 1')) return 'pass'
    const chance = Math.random()
    if (chance < 0.7) return 'pass'
    if (!isFinding) unknown++
    return chance < 0.85 ? 'swallow' : chance < 0.95 ? 'late' : 'lose'
  }
  const drive = async (mine: readonly Standing[]): Promise<void> => {
    for (let serial = 0; unknown < wanted; serial++) {
      const units = mine.map((standing) => makeUnit(standing, serial))
      const outcomes = await port.log.commit(worker, units)
      for (const [index, outcome] of outcomes.entries()) {
        const [standing, unit] = [mine[index], units[index]]
        if (!standing || !unit) continue
        if (outcome.outcome === 'ok') {
          ledger.note(unit)
          standing.head += unit.events.length
        } else if (outcome.outcome !== 'lost') throw new Error(`a unit was ${outcome.outcome}`)
        standing.epoch = outcome.epoch
      }
    }
  }
  const parts = Array.from({ length: 5 }, (_, part) => standings.filter((_, index) => index % 5 === part))
  await Promise.all(parts.map(drive))
  proxy.decide = () => 'pass'
  return { ledger, unknown }
}

function makeUnit(standing: Standing, serial: number): Unit {
  // Another name each time: what was lost and written again must not pass for the first.
  const name = `${standing.run}/${serial}`
  const events = [newEvent(name), newEvent(name)].slice(serial % 2)
  const opens = serial % 3 === 0 ? [newAsk(standing.head)] : []
  return newUnit(standing, { events, opens })
}
