import type { Address } from '../places/place.ts'
import { diskPerRun, type Growth, type Sample } from '../soak/verdict.ts'
import type { Machine } from './machine.ts'
import { nameStore, show } from './numbers.ts'

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

/** The section on it. */
export function tellSoak({ date, command, minutes, stores }: Soak): string {
  const at = stores.length > 1 ? ', on all stores at once, each in its own process' : ''
  return [
    '## Soak',
    `The soak ran as many runs with steps, signals and answers as possible for ${minutes} minutes${at}. Measured on ${date.slice(0, 10)} with \`${command}\`. Memory is measured after a garbage collection. Growth starts at the end of the first third, when code is compiled and caches are full. The database grows with each run because its log is kept.`,
    [
      '| store | runs | heap | resident memory | handles | database for a run | WAL at most |',
      '| --- | --- | --- | --- | --- | --- | --- |',
      ...stores.map(tellStore),
    ].join('\n'),
  ].join('\n\n')
}

const section = /^## Soak\n.*?(?=\n+## )/ms

/** The section on the soak that the page has; null where it has none. */
export function findSoak(page: string): string | null {
  return section.exec(page)?.[0] ?? null
}

/** The page with that section, in place of the one it has or before its last. */
export function putSoak(page: string, soak: string): string {
  if (section.test(page)) return page.replace(section, () => soak)
  const last = page.lastIndexOf('\n## ') + 1
  return `${page.slice(0, last)}${soak}\n\n${page.slice(last)}`
}

function tellStore({ kind, samples, growths }: SoakedStore): string {
  const max = Math.max(...samples.map(({ walMb }) => walMb))
  const cells = [
    nameStore(kind),
    (samples.at(-1)?.runs ?? 0).toLocaleString('en'),
    ...growths.map((growth) => `${tellGrowthBound(growth)}: ${growth.isGood ? 'met' : '**not met**'}`),
    `${show(diskPerRun(samples))} B`,
    `${show(max)} MB`,
  ]
  return `| ${cells.join(' | ')} |`
}

export function tellGrowthBound({ unit, grown, perHour, max }: Growth): string {
  const tell = (value: number): string =>
    `${Number.isInteger(value) ? value : show(value)}${unit === '' ? '' : ` ${unit}`}`
  const tellChange = (value: number): string => `${value < 0 ? '−' : '+'}${tell(Math.abs(value))}`
  return `${tellChange(grown)} (${tellChange(perHour)}/h), at most ${tell(max)}`
}
