import { decodePayload } from '@pawl/core/internal'
import type { LogEvent } from '@pawl/core/storage'
import type { RunRecord } from '../../src/memory/tables.ts'
import { generationsOf, lifeOf, standingEvents, standingOf, takesPlace } from './lives.ts'
import type { World } from './world.ts'

/** What a generation was given. */
interface Given {
  readonly round: number
  /** What those before it have seen. */
  readonly before: readonly string[]
}

/** The present generation of a run. */
export interface Life extends Given {
  /** By which its traces are found. */
  readonly name: string
  readonly events: readonly LogEvent[]
  /** What its executions have seen, with what those before it had. */
  readonly traces: readonly (readonly string[])[]
}

export function presentLife({ bodies }: World, run: RunRecord): Life {
  const events = run.events.slice(run.base)
  const name = lifeOf(run.id, run.base)
  return { ...givenTo(events[0]), name, events, traces: bodies.traces.get(name) ?? [] }
}

/** Whether each generation follows from what the one before it has seen, and each checkpoint is there once. */
export function findLifeFaults({ bodies }: World, run: RunRecord): readonly string[] {
  const generations = generationsOf(run)
  const faults = findCheckpointFaults(run)
  let round = 0
  for (const [i, generation] of generations.entries()) {
    const given = givenTo(generation.events[0])
    if (!takesPlace(generation)) round++
    if (given.round !== round) faults.push(`its generation ${i + 1} is in round ${given.round}`)
    const traces = bodies.traces.get(lifeOf(run.id, generation.base)) ?? []
    const longest = traces.reduce((a, b) => (b.length > a.length ? b : a), [])
    if (traces.some((trace) => !isBeginning(trace, longest)))
      faults.push(`two executions of generation ${i + 1} differ`)
    const next = generations[i + 1]
    if (next === undefined || takesPlace(next)) continue
    const { before } = givenTo(next.events[0])
    if (!traces.some((trace) => isBeginning(before, trace)))
      faults.push(`generation ${i + 2} follows from what none has seen:\n  ${before.join('\n  ')}`)
  }
  if (generations.at(-1)?.base !== run.base) faults.push(`its log begins at ${run.base}`)
  return faults
}

function findCheckpointFaults(run: RunRecord): string[] {
  const recorded = standingEvents(run)
    .filter(({ type, kind, failed }) => type === 'settled' && kind === 'checkpoint' && !failed)
    .map(({ position, name }) => `${position} ${name}`)
  const kept = [...run.checkpoints.values()].map(({ position, name }) => `${position} ${name}`)
  // Those of a completed run are deleted in the end.
  const missing = run.state === 'completed' ? [] : recorded.filter((one) => !kept.includes(one))
  const unknown = kept.filter((one) => !recorded.includes(one))
  return [
    ...missing.map((one) => `checkpoint ${one} is in its log and not there`),
    ...unknown.map((one) => `checkpoint ${one} is there and not in its log`),
  ]
}

/** What the present generation of a run was given. */
export function presentInput({ events, base }: RunRecord): Given {
  return givenTo(events[base])
}

function givenTo(started: LogEvent | undefined): Given {
  const { input } = decodePayload(started?.payload as Uint8Array) as { readonly input: Partial<Given> | null }
  const { round = 1, before = [] } = input ?? {}
  return { round, before }
}

export function isBeginning(trace: readonly string[], whole: readonly string[]): boolean {
  return trace.every((seen, i) => whole[i] === seen)
}

/** The number of generations that a run has begun by itself, and that count. */
export function countContinued(run: RunRecord): number {
  return standingOf(run).filter(({ why }) => why === 'continued').length
}
