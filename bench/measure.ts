import { startActor } from './actor.ts'
import { type Spread, spreadOf } from './base/statistics.ts'
import type { Case } from './cases.ts'
import type { FigureSpec } from './figures.ts'
import type { Address } from './places/place.ts'
import type { Places } from './places/places.ts'
import type { Figures, Job } from './workloads/workload.ts'

export interface Figure {
  readonly name: string
  readonly title: string
  readonly unit: string
  readonly better: 'more' | 'less'
  readonly target: number | null
  readonly met: boolean | null
  readonly spread: Spread
}

export interface Measured {
  readonly case: string
  readonly title: string
  readonly role: string
  readonly size: number | null
  /** 'Pawl', or a peer. */
  readonly by: string
  readonly kind: Address['kind']
  readonly figures: readonly Figure[]
  /** Everything that was measured, for plots. */
  readonly values: Figures
}

/** Pawl, in processes of its own. */
export async function measure(one: Case, places: Places): Promise<Measured> {
  const values: { [figure: string]: number[] } = {}
  const role = one.role ?? one.name
  for (let process = one.fresh === true ? one.rounds : 1; process > 0; process--) {
    const rounds = one.fresh === true ? 1 : one.rounds
    const job: Job = { address: await places.make(), rounds, size: one.size }
    const figures = (await startActor(role, job).result()) as Figures
    for (const [name, more] of Object.entries(figures)) values[name] = [...(values[name] ?? []), ...more]
  }
  return {
    ...{
      case: one.name,
      title: one.title,
      role,
      size: one.size ?? null,
      by: 'Pawl',
      kind: places.kind,
      values,
    },
    figures: one.figures
      .map((spec) => assess(spec, values[spec.name] ?? [], places.kind))
      // One that could not be told is left out, but what has to be reached stands there unreached.
      .filter(({ spread, target }) => spread.count > 0 || target !== null),
  }
}

function assess(spec: FigureSpec, values: readonly number[], kind: Address['kind']): Figure {
  const { target: targets, ...shown } = spec
  const spread = spreadOf(values)
  const target = targets?.[kind] ?? null
  const isMet = (aim: number): boolean =>
    spec.better === 'more' ? spread.median >= aim : spread.median <= aim
  return { ...shown, target, met: target === null ? null : isMet(target), spread }
}
