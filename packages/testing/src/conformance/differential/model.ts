import type { Unit } from '@pawl/core/storage'
import { bytes, effectsOf, later, link, longAgo, newAsk, settled } from '../builders.ts'
import type { DumpedRun } from '../subject.ts'
import type { PlannedUnit } from './operations.ts'

/** What is known of the runs before an operation: what it will be based on. */
export interface Model {
  readonly runs: readonly ModelRun[]
}

export type ModelRun = Pick<DumpedRun, 'id' | 'worker' | 'epoch' | 'head' | 'mail' | 'mark'>

/** A unit in which run and worker are still to be put in as each store numbers them. */
export interface ModelUnit extends Omit<Unit, 'run'> {
  readonly id: string
}

/** The run a number stands for; `nowhere` as long as there are none, and now and then later. */
export function pickRun(model: Model, number: number): string {
  return model.runs[number % Math.max(1, model.runs.length + (number === 5 ? 1 : 0))]?.id ?? 'nowhere'
}

/** A marked run, now and then another one. */
export function pickMarked(model: Model, number: number): string {
  const marked = model.runs.filter(({ mark }) => mark !== 'none')
  return marked[number % (marked.length + 1)]?.id ?? pickRun(model, number)
}

/** The committer: mostly an owner. */
export function pickOwner(model: Model, number: number): number {
  const owners = model.runs.flatMap(({ worker }) => worker ?? [])
  return owners[number % Math.max(1, owners.length)] ?? number
}

/** The units with their runs: those of the worker if it has any, so that most of them are good. */
export function planUnits(model: Model, worker: number, units: readonly PlannedUnit[]): readonly ModelUnit[] {
  const own = model.runs.filter((run) => run.worker === worker)
  const planned = new Map<string, ModelUnit>()
  for (const [index, unit] of units.entries()) {
    // Sometimes for the run of another owner.
    const candidates = own.length > 0 && unit.run < 5 ? own : model.runs
    const run = candidates[(unit.run + index) % Math.max(1, candidates.length)]
    if (run && !planned.has(run.id)) planned.set(run.id, planUnit(run, unit))
  }
  return [...planned.values()]
}

function planUnit(run: ModelRun, unit: PlannedUnit): ModelUnit {
  const events = unit.events.map((payload, index) =>
    settled(run.head + index, { payload, name: `event ${run.head + index}`, failed: payload === null }),
  )
  const head = run.head + unit.headOff
  return {
    id: run.id,
    epoch: run.epoch + unit.epochOff,
    head,
    events,
    seals: events.map((_, index) => (unit.isSealed && index === 0 ? link(index) : null)),
    link: events.length > 0 ? link(head + events.length) : null,
    seen: run.mail + unit.seenOff,
    strict: unit.strict,
    next: planNext(unit.next),
    effects: effectsOf({
      opens: unit.opens.map(({ position, hasKey, closesAt, isAnswered }) =>
        newAsk(position, {
          key: hasKey ? `key ${position % 3}` : null,
          closesAt,
          urgency: position % 4,
          answered: isAnswered ? { by: 'user:early', at: 1, payload: bytes('early') } : null,
        }),
      ),
      closes: unit.closes.map((position) => ({
        position,
        status: position % 2 === 0 ? 'timed-out' : 'withdrawn',
      })),
      consumes: unit.consumes,
      info: unit.info,
    }),
  }
}

function planNext(next: PlannedUnit['next']): Unit['next'] {
  switch (next) {
    case 'keep':
      return { do: 'keep' }
    case 'park':
      return { do: 'park', wakeAt: null }
    case 'park until long ago':
      return { do: 'park', wakeAt: longAgo }
    case 'park until later':
      return { do: 'park', wakeAt: later }
    case 'complete':
      return { do: 'end', state: 'completed' }
    case 'fail':
      return { do: 'end', state: 'failed' }
  }
}
