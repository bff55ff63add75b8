import type { Unit } from '@pawl/core/storage'
import { bytes, effectsOf, later, link, longAgo, newAsk, settled } from '../builders.ts'
import type { DumpedRun } from '../subject.ts'
import type { PlannedUnit } from './operations.ts'

/** State of the runs before an operation, on which the operation is based. */
export interface Model {
  readonly runs: readonly ModelRun[]
}

export type ModelRun = Pick<DumpedRun, 'id' | 'worker' | 'epoch' | 'head' | 'mail' | 'mark'>

/** A unit whose run and worker are filled in later with each store's numbers. */
export interface ModelUnit extends Omit<Unit, 'run'> {
  readonly id: string
}

/** Returns the run that a number stands for; `nowhere` if there are none, and occasionally otherwise. */
export function pickRun(model: Model, number: number): string {
  return model.runs[number % Math.max(1, model.runs.length + (number === 5 ? 1 : 0))]?.id ?? 'nowhere'
}

/** Returns a marked run, occasionally another one. */
export function pickMarked(model: Model, number: number): string {
  const marked = model.runs.filter(({ mark }) => mark !== 'none')
  return marked[number % (marked.length + 1)]?.id ?? pickRun(model, number)
}

/** Returns the committing worker, mostly an owner. */
export function pickOwner(model: Model, number: number): number {
  const owners = model.runs.flatMap(({ worker }) => worker ?? [])
  return owners[number % Math.max(1, owners.length)] ?? number
}

/** Assigns runs to the units, preferably runs of the worker, so that most units are valid. */
export function planUnits(model: Model, worker: number, units: readonly PlannedUnit[]): readonly ModelUnit[] {
  const own = model.runs.filter((run) => run.worker === worker)
  const planned = new Map<string, ModelUnit>()
  for (const [index, unit] of units.entries()) {
    // Occasionally the run of another owner.
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
