import type { Spread } from '../base/statistics.ts'
import type { PeerFigure } from '../comparison/peer.ts'
import type { Measured } from '../measure.ts'
import { nameStore, show } from './numbers.ts'

/** Pawl's figure of the same name, on each store on which it was measured. */
export function findOwn(
  workload: string,
  name: string,
  pawl: readonly Measured[],
): readonly { readonly kind: Measured['kind']; readonly spread: Spread }[] {
  return pawl
    .filter((one) => one.case === workload)
    .flatMap(({ kind, figures }) =>
      figures.filter((figure) => figure.name === name).map(({ spread }) => ({ kind, spread })),
    )
}

/** How many times as good Pawl's median is. Ratios of one session hold on other machines. */
export function ratioOf(
  { better, spread }: Omit<PeerFigure, 'name' | 'title' | 'unit'>,
  own: Spread,
): number {
  return better === 'more' ? own.median / spread.median : spread.median / own.median
}

/** The ratios in words; empty where Pawl was not measured. */
export function compare(workload: string, figure: PeerFigure, pawl: readonly Measured[]): string {
  const ratios = findOwn(workload, figure.name, pawl).map(
    ({ kind, spread }) => `${show(ratioOf(figure, spread))} × on ${nameStore(kind)}`,
  )
  return ratios.length === 0 ? '' : `Pawl: ${ratios.join(', ')}`
}
