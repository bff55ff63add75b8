import { decodePayload } from '@pawl/core/internal'
import type { LogEvent } from '@pawl/core/storage'
import type { RunRecord } from '../../src/memory/tables.ts'
import { lifeOf } from './lives.ts'
import type { World } from './world.ts'

/** What a generation was given. */
interface Given {
  readonly round: number
  /** What those before it have seen. */
  readonly before: readonly string[]
}

/** The present generation of a run. */
export interface Life extends Given {
  readonly events: readonly LogEvent[]
  /** What its executions have seen, with what those before it had. */
  readonly traces: readonly (readonly string[])[]
}

export function presentLife({ bodies }: World, run: RunRecord): Life {
  const events = run.events.slice(run.base)
  const given = givenTo(events[0])
  return { ...given, events, traces: bodies.traces.get(lifeOf(run.id, given.round)) ?? [] }
}

/** Whether each generation follows from what the one before it has seen, and each checkpoint is there once. */
export function findLifeFaults({ bodies }: World, run: RunRecord): readonly string[] {
  const starts = run.events.filter(({ type }) => type === 'started')
  const faults = findCheckpointFaults(run)
  for (const [i, started] of starts.entries()) {
    const { round, before } = givenTo(started)
    if (round !== i + 1) faults.push(`its generation ${i + 1} is in round ${round}`)
    if (i === 0) continue
    const traces = bodies.traces.get(lifeOf(run.id, i)) ?? []
    if (!traces.some((trace) => before.every((seen, n) => trace[n] === seen)))
      faults.push(`generation ${i + 1} follows from what none has seen:\n  ${before.join('\n  ')}`)
    const longest = traces.reduce((a, b) => (b.length > a.length ? b : a), [])
    for (const trace of traces)
      if (!trace.every((seen, n) => longest[n] === seen))
        faults.push(`two executions of generation ${i} differ`)
  }
  if (starts.at(-1)?.seq !== run.base) faults.push(`its log begins at ${run.base}`)
  return faults
}

function findCheckpointFaults(run: RunRecord): string[] {
  const recorded = run.events
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

function givenTo(started: LogEvent | undefined): Given {
  const { input } = decodePayload(started?.payload as Uint8Array) as { readonly input: Partial<Given> | null }
  const { round = 1, before = [] } = input ?? {}
  return { round, before }
}

/** The number of generations that a run has begun by itself. */
export function countContinued({ events }: RunRecord): number {
  return events.filter((event) => event.type === 'started' && event.seq > 0).length
}
