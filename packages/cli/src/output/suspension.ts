import type { AskJson } from '../door/door.ts'
import { showMatter } from './ask.ts'
import { type Out, safe, safeJson } from './out.ts'
import { quote } from './quote.ts'

/** Says at which asks a run is suspended, and how each is answered. */
export function showSuspension(out: Out, asks: readonly AskJson[]): void {
  out.print('  Suspended at checkpoint')
  for (const ask of asks) {
    out.print(`  Checkpoint: ${safe(ask.id)}`)
    out.print('')
    out.print(`  ${out.style('bold', safe(ask.message))}${describe(ask)}`)
    showMatter(out, ask, out.print)
    out.print(`  ${out.style('cyan', commandFor(ask))}`)
  }
}

function describe({ to, dueAt, onTimeout }: AskJson): string {
  const parts = [
    ...(to.length === 0 ? [] : [to.join(', ')]),
    ...(dueAt === undefined ? [] : [`until ${dueAt}${onTimeout === undefined ? '' : `, then ${onTimeout}`}`]),
  ]
  return parts.length === 0 ? '' : `   ${safe(parts.join(' . '))}`
}

/** The command that answers it, ready to be pasted. */
function commandFor(ask: AskJson): string {
  const resolution =
    ask.kind === 'input'
      ? { value: '...' }
      : { decision: ask.kind === 'approve' ? 'approve' : (ask.choices[0]?.value ?? '...') }
  return `pawl resume ${quote(safe(ask.id))} --resolution ${quote(safeJson(resolution))}`
}
