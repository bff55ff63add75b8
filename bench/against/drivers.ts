import { fileURLToPath } from 'node:url'
import type { Case } from '../cases.ts'
import type { SqliteDriver } from '../places/place.ts'
import { sqlitePlaces } from '../places/places.ts'
import { describeMachine } from '../report/machine.ts'
import { keepResult } from '../report/results.ts'
import { listRows } from './against.ts'
import type { Build } from './builds.ts'
import { type Competitor, holdContest, type OfSides } from './contest.ts'
import { Leftovers } from './leftovers.ts'
import { type Row, tellContest, tellSummary } from './report.ts'

export interface DriversOptions {
  readonly cases: readonly Case[]
  readonly rounds: number
  /** Folder of the databases. */
  readonly folder: string
}

const own: Build = {
  folder: fileURLToPath(new URL('../../../../', import.meta.url)),
  program: new URL('../programs/actor.js', import.meta.url),
}

/** Compares the drivers of the SQLite store with each other, by turns. The control is the driver of Node a second time. */
export async function measureDrivers({ cases, rounds, folder }: DriversOptions): Promise<void> {
  const machine = describeMachine()
  const leftovers = new Leftovers()
  const rows: Row[] = []
  const compete = (driver: SqliteDriver): Competitor => ({
    build: own,
    places: leftovers.add(sqlitePlaces(folder, driver)),
  })
  try {
    const competitors: OfSides<Competitor> = {
      before: compete('better-sqlite3'),
      now: compete('node'),
      control: compete('node'),
    }
    console.log(tellLegend(rounds, folder))
    for (const one of cases.filter(({ only }) => only === undefined || only === 'sqlite')) {
      const measured = listRows(one, 'sqlite', await holdContest(one, competitors, rounds))
      console.log(tellContest(one, 'sqlite', measured, ['better', 'node', 'node/better']))
      rows.push(...measured)
    }
    console.log(tellSummary(rows))
    const date = new Date().toISOString()
    keepResult(`drivers-${date}`, { date, rounds, machine, rows })
  } finally {
    await leftovers.remove()
  }
}

function tellLegend(rounds: number, folder: string): string {
  return [
    `The driver of Node ${process.versions.node} (SQLite ${process.versions['sqlite']}) against better-sqlite3; databases in ${folder}`,
    `node/better: the median of ${rounds} rounds (and the middle half of them); above 1 the driver of Node costs more.`,
    'A/A: the same of the driver of Node against itself, which is what chance alone does.',
  ].join('\n')
}
