import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startActor } from './actor.ts'
import { type Spread, spreadOf } from './base/statistics.ts'
import type { Case } from './cases.ts'
import type { Address } from './places/place.ts'
import type { Figures, Job } from './workloads/workload.ts'

export interface Measured {
  readonly case: string
  readonly title: string
  readonly by: string
  readonly kind: Address['kind']
  readonly figures: readonly {
    readonly name: string
    readonly title: string
    readonly unit: string
    readonly better: 'more' | 'less'
    readonly target: number | null
    readonly met: boolean | null
    readonly spread: Spread
  }[]
  /** Everything that was measured, for plots. */
  readonly values: Figures
}

/** Where the databases of one measurement are made, one for each. */
export interface Places {
  readonly kind: Address['kind']
  make(): Promise<Address>
  remove(): Promise<void>
}

export function sqlitePlaces(): Places {
  const folder = mkdtempSync(join(process.env['BENCH_FOLDER'] ?? tmpdir(), 'pawl-bench-'))
  let count = 0
  return {
    kind: 'sqlite',
    make: async () => ({ kind: 'sqlite', file: join(folder, `${count++}.db`) }),
    remove: async () => rmSync(folder, { recursive: true }),
  }
}

/** Pawl, in processes of its own. */
export async function measure(one: Case, places: Places): Promise<Measured> {
  const values: { [figure: string]: number[] } = {}
  for (let process = one.fresh === true ? one.rounds : 1; process > 0; process--) {
    const job: Job = { address: await places.make(), rounds: one.fresh === true ? 1 : one.rounds }
    const figures = (await startActor(one.name, job).result()) as Figures
    for (const [name, more] of Object.entries(figures)) values[name] = [...(values[name] ?? []), ...more]
  }
  return {
    ...{ case: one.name, title: one.title, by: 'Pawl', kind: places.kind, values },
    figures: one.figures.map(({ name, title, unit, better, target: targets }) => {
      const spread = spreadOf(values[name] ?? [])
      const target = targets?.[places.kind] ?? null
      const met =
        target === null ? null : better === 'more' ? spread.median >= target : spread.median <= target
      return { name, title, unit, better, target, met, spread }
    }),
  }
}
