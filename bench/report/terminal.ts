import type { Measured } from '../measure.ts'
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
