import type { Address } from '../places/place.ts'
import { diskPerRun, type Growth, type Sample } from '../soak/verdict.ts'
import type { Machine } from './machine.ts'
import { nameStore, show } from './numbers.ts'
import { readResults } from './results.ts'

/** One soak, as it is written. */
export interface Soak {
  readonly date: string
  readonly command: string
  readonly machine: Machine
  readonly minutes: number
  readonly stores: readonly SoakedStore[]
}

export interface SoakedStore {
  readonly kind: Address['kind']
  readonly samples: readonly Sample[]
  readonly growths: readonly Growth[]
}

/** The longest that was kept, of these the last; null where there is none. */
export function findSoak(): Soak | null {
  const all = readResults('soak-') as readonly Soak[]
  const ordered = all.toSorted((a, b) => b.minutes - a.minutes || b.date.localeCompare(a.date))
  return ordered[0] ?? null
}

/** The section on it; empty where there is none. */
export function tellSoak(soak: Soak | null): readonly string[] {
  if (soak === null) return []
  const { date, command, minutes, stores } = soak
  const at = stores.length > 1 ? ', at once and each in a process of its own' : ''
  return [
    '## Soak',
    `${minutes} minutes of runs with steps, signals and answers, as many as go${at}; measured on ${date.slice(0, 10)} with \`${command}\`. Memory is that after a collection of garbage. Growth is that from the end of the first third, before which code is compiled and caches fill. The database grows with each run because its log is kept.`,
    [
      '| store | runs | heap | resident memory | handles | database for a run | WAL at most |',
      '| --- | --- | --- | --- | --- | --- | --- |',
      ...stores.map(tellStore),
    ].join('\n'),
  ]
}

function tellStore({ kind, samples, growths }: SoakedStore): string {
  const most = Math.max(...samples.map(({ walMb }) => walMb))
  const cells = [
    nameStore(kind),
    (samples.at(-1)?.runs ?? 0).toLocaleString('en'),
    ...growths.map((growth) => `${tellGrowthBound(growth)}: ${growth.isGood ? 'met' : '**not met**'}`),
    `${show(diskPerRun(samples))} B`,
    `${show(most)} MB`,
  ]
  return `| ${cells.join(' | ')} |`
}

export function tellGrowthBound({ unit, grown, perHour, most }: Growth): string {
  const tell = (value: number): string =>
    `${Number.isInteger(value) ? value : show(value)}${unit === '' ? '' : ` ${unit}`}`
  const tellChange = (value: number): string => `${value < 0 ? '−' : '+'}${tell(Math.abs(value))}`
  return `${tellChange(grown)} (${tellChange(perHour)}/h), at most ${tell(most)}`
}
