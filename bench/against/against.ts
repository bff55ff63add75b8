import type { Case } from '../cases.ts'
import type { Places } from '../places/places.ts'
import { describeMachine } from '../report/machine.ts'
import { keepResult } from '../report/results.ts'
import { type Builds, checkBuilds, makeBuilds, tellDependencies } from './builds.ts'
import { addContests, type Competitor, type Contest, holdContest, type OfSides } from './contest.ts'
import { Leftovers } from './leftovers.ts'
import { SideFailed } from './player.ts'
import { type Row, tellContest, tellLegend, tellSummary } from './report.ts'
import { compare } from './verdict.ts'

export interface AgainstOptions {
  readonly revision: string
  readonly cases: readonly Case[]
  readonly rounds: number
  /** Folder of the databases. */
  readonly folder: string
  readonly stores: readonly ((folder: string) => Places | Promise<Places>)[]
}

/** Compares the working tree with another commit. Returns whether nothing costs clearly more. */
export async function measureAgainst(options: AgainstOptions): Promise<boolean> {
  const { revision, cases, rounds, folder, stores } = options
  const machine = describeMachine()
  const leftovers = new Leftovers()
  const rows: Row[] = []
  try {
    const builds = leftovers.add(makeBuilds(revision))
    console.log(tellLegend(builds, rounds, folder))
    const note = tellDependencies(builds.commit)
    if (note !== null) console.log(note)
    await checkBuilds(builds)
    for (const open of stores) {
      const places = leftovers.add(await open(folder))
      rows.push(...(await measureOn(places, cases, builds, rounds)))
    }
    console.log(tellSummary(rows))
    const date = new Date().toISOString()
    keepResult(`against-${date}`, { date, against: builds.subject, rounds, machine, rows })
  } finally {
    await leftovers.remove()
  }
  return rows.every(({ comparison }) => comparison.verdict !== 'beyond')
}

async function measureOn(
  places: Places,
  cases: readonly Case[],
  builds: Builds,
  rounds: number,
): Promise<readonly Row[]> {
  const rows: Row[] = []
  const { before, now, control } = builds.sides
  const competitors = {
    before: { build: before, places },
    now: { build: now, places },
    control: { build: control, places },
  }
  for (const one of cases) {
    if (one.only !== undefined && one.only !== places.kind) continue
    try {
      const measured = listRows(one, places.kind, await measureOne(one, competitors, rounds))
      console.log(tellContest(one, places.kind, measured))
      rows.push(...measured)
    } catch (error) {
      // The earlier commit may lack the case.
      if (!(error instanceof SideFailed) || error.side !== 'before') throw error
      console.log(`\n${one.name} (${places.kind}) cannot be compared: ${error.message}`)
    }
  }
  return rows
}

/** Measures figures that seem to cost more once more, and counts all rounds: among many figures, chance raises some. */
async function measureOne(one: Case, competitors: OfSides<Competitor>, rounds: number): Promise<Contest> {
  const first = await holdContest(one, competitors, rounds)
  const isBeyond = listRows(one, competitors.now.places.kind, first).some(
    ({ comparison }) => comparison.verdict === 'beyond',
  )
  return isBeyond ? addContests(first, await holdContest(one, competitors, rounds)) : first
}

export function listRows(one: Case, kind: Places['kind'], contest: Contest): readonly Row[] {
  return [...contest]
    .map(([figure, measured]) => ({
      case: one.name,
      kind,
      figure,
      rounds: measured,
      comparison: compare(measured),
    }))
    .filter(({ comparison }) => comparison.ratio.rounds > 0)
}
