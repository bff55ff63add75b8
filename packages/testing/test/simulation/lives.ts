import { decodePayload } from '@pawl/core/internal'
import type { LogEvent } from '@pawl/core/storage'
import type { RunRecord } from '../../src/memory/tables.ts'
import type { Chance } from './chance.ts'

/** What chance has drawn about the generations of a procedure. */
export interface Lives {
  /** The number of its generations. Each goes through the same tree, in places of its own. */
  readonly rounds: number
}

export function drawLives(chance: Chance): Lives {
  return { rounds: chance.oneIn(3) ? chance.between(2, 3) : 1 }
}

/** The place of the tree in a generation, from 1 on. */
export function rootOf(round: number): string {
  return round === 1 ? '/' : `/g${round}/`
}

/** By which the traces of a generation are found. `base`: the seq of its first event. */
export function lifeOf(run: string, base: number): string {
  return `${run} from event ${base}`
}

/** A generation in the log of a run. */
export interface Generation {
  readonly base: number
  readonly events: readonly LogEvent[]
  /** 'retried', 'again': it takes the place of the generation before it. */
  readonly why: 'first' | 'continued' | 'retried' | 'again'
}

/** The generations of a run, the earliest first. */
export function generationsOf({ events }: Pick<RunRecord, 'events'>): readonly Generation[] {
  const bases = events.flatMap(({ type }, index) => (type === 'started' ? [index] : []))
  return bases.map((base, i) => ({
    base,
    events: events.slice(base, bases[i + 1] ?? events.length),
    why: whyOf(events[base] as LogEvent),
  }))
}

function whyOf({ payload }: LogEvent): Generation['why'] {
  const { generation } = decodePayload(payload as Uint8Array) as {
    readonly generation?: { readonly why: Exclude<Generation['why'], 'first'> }
  }
  return generation?.why ?? 'first'
}

export function takesPlace({ why }: Generation): boolean {
  return why === 'retried' || why === 'again'
}

/** The generations that count: none of those whose place a later one has taken. */
export function standingOf(run: Pick<RunRecord, 'events'>): readonly Generation[] {
  const standing: Generation[] = []
  for (const generation of generationsOf(run)) {
    if (takesPlace(generation)) standing.pop()
    standing.push(generation)
  }
  return standing
}

/** What has happened in the generations that count. */
export function standingEvents(run: Pick<RunRecord, 'events'>): readonly LogEvent[] {
  return standingOf(run).flatMap(({ events }) => events)
}

/** How often a run was retried, alone or with its parent. */
export function countRetries(run: Pick<RunRecord, 'events'>): number {
  return generationsOf(run).filter(takesPlace).length
}
