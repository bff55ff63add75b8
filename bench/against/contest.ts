import type { Case, Turns } from '../cases.ts'
import type { FigureSpec } from '../figures.ts'
import type { Places } from '../places/places.ts'
import type { Figures } from '../workloads/workload.ts'
import { type Build, type Side, sides } from './builds.ts'
import { createPlayer, type Player } from './player.ts'
import type { Costs } from './verdict.ts'

/** Costs of each figure of a case, by round. */
export type Contest = ReadonlyMap<FigureSpec, readonly Costs[]>

/** What is measured on one side. */
export interface Competitor {
  readonly build: Build
  readonly places: Places
}

export type OfSides<T> = { readonly [side in Side]: T }

const usualTurns: Turns = { warmUp: 1, turns: 3 }

/**
 * Measures a case on all sides. In each round every side has a process of its own, and these take turns:
 * A B C, C B A, A B C …, and in the next round B C A, A C B …
 */
export async function holdContest(
  one: Case,
  competitors: OfSides<Competitor>,
  rounds: number,
): Promise<Contest> {
  const figures = one.figures.filter(({ isCompared }) => isCompared !== false)
  const contest = new Map<FigureSpec, Costs[]>(figures.map((figure) => [figure, []]))
  for (let round = 0; round < rounds; round++) {
    const measured = await measureRound(one, competitors, rotate(sides, round % sides.length))
    const costs = (figure: FigureSpec, side: Side): readonly number[] =>
      listCosts(figure, measured[side][figure.name] ?? [], one.against ?? usualTurns)
    for (const [figure, of] of contest)
      of.push({
        before: costs(figure, 'before'),
        now: costs(figure, 'now'),
        control: costs(figure, 'control'),
      })
  }
  return contest
}

/** All rounds of two contests of one case. */
export function addContests(first: Contest, second: Contest): Contest {
  return new Map([...first].map(([figure, rounds]) => [figure, [...rounds, ...(second.get(figure) ?? [])]]))
}

/** Returns the measured turns. A figure that is better if larger costs its inverse. */
function listCosts(
  { better }: FigureSpec,
  values: readonly number[],
  { warmUp = 0, turns }: Turns,
): readonly number[] {
  // A figure of the whole process has one value and no warm-up turns.
  const counted = values.length > turns ? values.slice(warmUp) : values
  return better === 'less' ? counted : counted.map((value) => 1 / value)
}

async function measureRound(
  one: Case,
  competitors: OfSides<Competitor>,
  order: readonly Side[],
): Promise<OfSides<Figures>> {
  const { warmUp = 0, turns: counted, size = one.size } = one.against ?? usualTurns
  const turns = warmUp + counted
  const players = order.map((side) => createPlayer(one, { side, ...competitors[side], turns, size }))
  try {
    for (const player of players) await player.prepare()
    for (let turn = 0; turn < turns; turn++)
      for (const player of turn % 2 === 0 ? players : players.toReversed()) await player.turn()
    const measured: { [side in Side]: Figures } = { before: {}, now: {}, control: {} }
    for (const player of players) measured[player.side] = await player.finish()
    return measured
  } finally {
    await removeAll(players)
  }
}

async function removeAll(players: readonly Player[]): Promise<void> {
  for (const player of players) await player.remove()
}

function rotate<T>(values: readonly T[], by: number): readonly T[] {
  return [...values.slice(by), ...values.slice(0, by)]
}
