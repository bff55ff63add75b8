import type { PeerResult } from '../comparison/peer.ts'
import type { Measured } from '../measure.ts'
import { compare } from './comparison.ts'
import { show } from './numbers.ts'

/** The figures of one measurement as lines of a table. */
export function tellMeasured({ case: name, title, by, kind, figures }: Measured): void {
  console.log(`\n${name}  ${title}  (${by}, ${kind})`)
  for (const { title: what, unit, spread, target, met, better } of figures) {
    const range = `${show(spread.min)} to ${show(spread.max)}`
    const aim =
      target === null
        ? ''
        : `${better === 'more' ? '≥' : '≤'} ${show(target)}  ${met === true ? 'met' : 'NOT MET'}`
    console.log(
      `  ${what.padEnd(34)}${show(spread.median).padStart(10)} ${unit.padEnd(8)} ${range.padEnd(24)} ${aim}`,
    )
  }
}

/** The figures of a peer, and how Pawl's stand to them. */
export function tellPeerResult(title: string, result: PeerResult, pawl: readonly Measured[]): void {
  console.log(`\n${result.workload}  ${title}`)
  for (const figure of result.figures) {
    const { title: what, unit, spread } = figure
    const range = `${show(spread.min)} to ${show(spread.max)}`
    console.log(
      `  ${what.padEnd(34)}${show(spread.median).padStart(10)} ${unit.padEnd(8)} ${range.padEnd(24)} ${compare(result.workload, figure, pawl)}`,
    )
  }
  if (result.note !== null) console.log(`  ${result.note}`)
}
