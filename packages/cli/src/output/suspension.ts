import type { AskJson } from '../door/door.ts'
import { showMatter } from './ask.ts'
import { type Out, safe, safeJson } from './out.ts'
import { quote } from './quote.ts'
import { maxWidthOf } from './width.ts'

/** Says at which asks a run is suspended, and how each is answered. */
export function showSuspension(out: Out, asks: readonly AskJson[]): void {
  out.print('  Suspended at checkpoint')
  for (const ask of asks) {
    out.print(`  Checkpoint: ${safe(ask.id)}`)
    out.print('')
    showMatter(out, ask, out.print)
    out.print(`  ${out.style('cyan', commandFor(out, ask))}`)
  }
}

/** The command that answers it, ready to be pasted. A long choice is left out: the terminal would break it, and the rest would have no mark. */
function commandFor(out: Out, ask: AskJson): string {
  const command = (resolution: object): string =>
    `pawl resume ${quote(safe(ask.id))} --resolution ${quote(safeJson(resolution))}`
  if (ask.kind === 'input') return command({ value: '...' })
  const decision = ask.kind === 'approve' ? 'approve' : (ask.choices[0]?.value ?? '...')
  const shown = command({ decision })
  return maxWidthOf(shown) + 2 <= out.columns ? shown : command({ decision: '...' })
}
