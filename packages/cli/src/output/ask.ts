import type { AskJson } from '../door/door.ts'
import { type Out, safe } from './out.ts'

/** Longer parts are cut: a person reads them in the browser, or with `--json`. */
const maxLines = 40

/** Shows what a person needs to know to answer an ask: on stderr while it is answered, on stdout as what a command was asked for. */
export function showAsk(out: Out, ask: AskJson, print: Print = out.note): void {
  const fact = factPrinter(out, print)
  print('')
  print(`  ${out.style('bold', safe(ask.message))}`)
  fact('run', `${ask.run} (${ask.procedure})`)
  if (ask.to.length > 0) fact('to', ask.to.join(', '))
  if (ask.risk !== undefined) fact('risk', showRisk(ask.risk))
  if (ask.dueAt !== undefined)
    fact(ask.overdue ? 'overdue' : 'due', `${ask.dueAt}${ask.onTimeout ? `, then: ${ask.onTimeout}` : ''}`)
  if (ask.answer !== undefined) fact('answered', showOrigin(ask.answer))
  if (ask.error !== undefined) fact('error', `${ask.error.name}: ${ask.error.message}`)
  for (const { label, description } of ask.alternatives)
    fact('instead', description === undefined ? label : `${label}: ${description}`)
  showMatter(out, ask, print)
  print('')
}

/** Shows what is decided on. */
export function showMatter(out: Out, ask: AskJson, print: Print): void {
  const fact = factPrinter(out, print)
  for (const [name, value] of Object.entries((ask.params ?? {}) as object)) fact(name, showInline(value))
  for (const { step, result } of ask.history) fact('before', `${step}: ${showInline(result)}`)
  for (const { title, body } of ask.details) showBlock(out, title, body, print)
  for (const { label, url } of ask.links) fact('link', `${label}: ${url}`)
  if (ask.baseline !== undefined) showBlock(out, 'baseline', ask.baseline, print)
  if (ask.artifact !== undefined) showBlock(out, 'artifact', ask.artifact, print)
}

/** Shows the person who answered, and on whose behalf. */
function showOrigin({ by, at, via, madeBy, actedBy }: NonNullable<AskJson['answer']>): string {
  const parts = [
    ...(actedBy === undefined ? [] : [`given by ${actedBy}`]),
    ...(via === undefined ? [] : [`via ${via}`]),
    ...(madeBy === undefined ? [] : [`made by ${madeBy}`]),
  ]
  return `${at} by ${by}${parts.length === 0 ? '' : `, ${parts.join(', ')}`}`
}

type Print = (line: string) => void

function factPrinter(out: Out, print: Print): (name: string, value: string) => void {
  return (name, value) => print(`  ${out.style('dim', safe(name).padEnd(10))} ${safe(value)}`)
}

function showRisk({ level, reasons = [], reversible }: NonNullable<AskJson['risk']>): string {
  const parts = [...reasons, ...(reversible === false ? ['cannot be undone'] : [])]
  return parts.length === 0 ? level : `${level}: ${parts.join(', ')}`
}

/** A value in one line, cut. */
export function showInline(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return text.length <= 200 ? text : `${text.slice(0, 199)}…`
}

function showBlock(out: Out, title: string, body: unknown, print: Print): void {
  print(`  ${out.style('dim', safe(title))}`)
  const text = typeof body === 'string' ? body : (JSON.stringify(body, null, 2) ?? '')
  const lines = text.split('\n')
  for (const line of lines.slice(0, maxLines)) print(`    ${safe(line)}`)
  if (lines.length > maxLines) print(`    … ${lines.length - maxLines} more lines`)
}
