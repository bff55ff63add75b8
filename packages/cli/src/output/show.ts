import type { AskJson, LogEntryJson, NoticeJson, RunFactsJson, RunJson } from '../door/door.ts'
import { showInline } from './ask.ts'
import { fitLine, type Out, safe } from './out.ts'
import type { Below, Column } from './table.ts'

export const runColumns: readonly Column<RunJson>[] = [
  { title: 'STATUS', of: ({ status }) => status },
  { title: 'RUN', of: ({ id }) => id },
  { title: 'PROCEDURE', of: ({ procedure, version }) => `${procedure} v${version}` },
  { title: 'STARTED', of: ({ startedAt }) => startedAt },
  { title: 'DETAIL', of: detailOf },
]

export const askColumns: readonly Column<AskJson>[] = [
  { title: 'ASK', of: ({ id }) => id },
  { title: 'DUE', of: ({ dueAt, overdue }) => (overdue ? `overdue since ${dueAt}` : (dueAt ?? '-')) },
  { title: 'RISK', of: ({ risk }) => risk?.level ?? '-' },
  { title: 'TO', of: ({ to }) => (to.length === 0 ? 'everyone' : to.join(', ')) },
  { title: 'MESSAGE', of: ({ message }) => message },
]

export const noticeColumns: readonly Column<NoticeJson>[] = [
  { title: 'NOTICE', of: ({ id }) => id },
  { title: 'AT', of: ({ at }) => at },
  { title: 'SEVERITY', of: ({ severity }) => severity },
  { title: 'RUN', of: ({ run }) => run },
  { title: 'TO', of: ({ to }) => (to.length === 0 ? 'everyone' : to.join(', ')) },
  { title: 'READ', of: ({ isRead }) => (isRead ? 'read' : 'unread') },
  { title: 'MESSAGE', of: ({ message }) => message },
]

/** Maximum number of lines of details and links that are shown of a notice. */
const maxNoticeLines = 10

/** The details and the links of a notice, a line for each, cut. */
export function showMore({ details, links }: NoticeJson): Below {
  const lines = [
    ...details.map(({ title, body }) => `${title}: ${showInline(body)}`),
    ...links.map(({ label, url }) => `${label}: ${showInline(url)}`),
  ]
  const left = lines.length - maxNoticeLines
  return left <= 0
    ? { lines }
    : { lines: lines.slice(0, maxNoticeLines), rest: `… ${left} more: --json shows them` }
}

export const logColumns: readonly Column<LogEntryJson>[] = [
  { title: 'POSITION', of: ({ position }) => String(position) },
  { title: 'TYPE', of: ({ type }) => type },
  { title: 'NAME', of: ({ name }) => name },
  { title: 'STATUS', of: ({ status }) => status },
  { title: 'TIME', of: ({ duration_ms }) => showMs(duration_ms) },
  {
    title: 'RESULT',
    of: (entry) => clip(retryOf(entry) ?? `${editorOf(entry)}${JSON.stringify(entry.result)}`),
  },
]

/** Names the person who edited an answer in a fork; empty if it was given. */
function editorOf({ type, result }: LogEntryJson): string {
  const { by, via } = Object(result) as { readonly by?: unknown; readonly via?: unknown }
  const isEdited = type.startsWith('hitl_') && via === 'fork' && typeof by === 'string'
  return isEdited ? `edited by ${by} in the fork: ` : ''
}

/** Shows the reason and the time of a retry; undefined if there is none. */
function retryOf({ attempts, next_attempt_at: next }: LogEntryJson): string | undefined {
  const last = attempts?.at(-1)
  if (last === undefined || next === undefined) return undefined
  return `attempt ${last.attempt} failed, the next is due ${next}: ${last.error.message}`
}

/** One line that says what a run waits for, or why it does not continue. */
function detailOf(run: RunJson): string {
  const why = run.failure?.message ?? (run.status === 'cancelled' ? showCancel(run) : undefined)
  return why === undefined ? showWaits(run) : clip(why.split('\n')[0] ?? '')
}

function showWaits({ waitingFor }: RunJson): string {
  return waitingFor
    .map(({ kind, name, ask, until }) => {
      const what = kind === 'ask' && ask !== undefined ? `ask ${ask}` : `${kind} ${name}`
      return until === undefined ? what : `${what} until ${until}`
    })
    .join(', ')
}

export function showRun(out: Out, run: RunJson): void {
  if (out.json) return out.print(JSON.stringify(run))
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['run', run.id],
    ['procedure', `${run.procedure} v${run.version}`],
    ['status', run.status],
    ['started', run.startedBy === undefined ? run.startedAt : `${run.startedAt} by ${run.startedBy}`],
    ['ended', run.endedAt],
    ['child of', run.parent?.run],
    ['fork of', at(run.forkedFrom?.position, run.forkedFrom?.run)],
    ['generation', run.generation > 1 ? String(run.generation) : undefined],
    ['progress', showProgress(run)],
    ['tags', run.tags.length === 0 ? undefined : run.tags.join(', ')],
    ...valueRows(run),
    ['waits for', run.waitingFor.length === 0 ? undefined : showWaits(run)],
    ...factRows(run),
    ['cancel', showCancel(run)],
    ['retried by', run.retriedBy],
    ['failure', run.failure?.message],
    ['undone', listNames(run.rollback?.undone)],
    ...(run.rollback?.failed ?? []).map(
      ({ name, failure }) => ['undo failed', `${name}: ${failure.message}`] as const,
    ),
    ['not undone', run.rollback?.skipped],
    ['log has', at(run.stuck?.position, run.stuck?.recorded)],
    ['code asks', run.stuck?.asked],
    ['code', run.stuck?.at],
    ['last tried', run.stuck?.triedAt],
  ]
  printNamed(out, rows)
}

/** Shows the reason of a cancel and who requested it. */
export function showCancel({ cancelReason, cancelledBy }: RunJson): string | undefined {
  if (cancelledBy === undefined) return cancelReason
  return cancelReason === undefined ? `by ${cancelledBy}` : `${cancelReason}, by ${cancelledBy}`
}

/** The values of a run. `pawl result` and `pawl state` print what is too long for a line. */
function valueRows({ values }: RunJson): readonly (readonly [string, string | undefined])[] {
  if (values === undefined) return []
  const show = (name: string, value: unknown): string | undefined =>
    values.omitted.includes(name)
      ? 'more than 64 KiB'
      : value === undefined
        ? undefined
        : clip(JSON.stringify(value))
  return [
    ['input', show('input', values.input)],
    ['output', show('output', values.output)],
    ...values.exposed.map(({ name, value }) => [`state ${name}`, show(`exposed.${name}`, value)] as const),
  ]
}

/** The worker of a run, what belongs to it, what its agents have used, and what can be done with it. */
function factRows({ facts }: RunJson): readonly (readonly [string, string | undefined])[] {
  if (facts === undefined) return []
  const { owner, entries, openAsks, children, usage, can } = facts
  const statuses = Object.entries(children.byStatus).filter(([, count]) => count > 0)
  const possible = Object.entries(can).flatMap(([verb, { ok }]) => (ok ? verb : []))
  return [
    ['worker', owner && `${owner.worker}, lease ends ${owner.leaseEndsAt}`],
    ['log', `${entries} ${entries === 1 ? 'entry' : 'entries'}`],
    ['open asks', openAsks.count === 0 ? undefined : atLeast(openAsks.count, openAsks.capped)],
    [
      'children',
      listNames([
        ...statuses.map(([status, count]) => `${count} ${status}`),
        ...(children.capped ? ['and older ones'] : []),
      ]),
    ],
    ['agents', usage.calls === 0 ? undefined : showUsage(usage)],
    ['can', listNames(possible)],
  ]
}

function showUsage({ calls, inputTokens, outputTokens, costUsd, capped }: RunFactsJson['usage']): string {
  const tokens = `${inputTokens} tokens in, ${outputTokens} out`
  const cost = costUsd === 0 ? [] : [`${Number(costUsd.toPrecision(6))} USD`]
  return [`${atLeast(calls, capped)} calls`, tokens, ...cost].join(', ')
}

function atLeast(count: number, isCapped: boolean): string {
  return isCapped ? `${count} or more` : String(count)
}

/** Prints a line for each value that there is: aligned in a terminal, else tab-separated. */
export function printNamed(
  out: Out,
  rows: readonly (readonly [name: string, value: string | undefined])[],
): void {
  for (const [name, value] of rows)
    if (value !== undefined)
      out.print(out.isTerminal ? showNamed(out, name, value) : `${safe(name)}\t${safe(value)}`)
}

function showNamed(out: Out, name: string, value: string): string {
  const shown = `${safe(name).padEnd(11)} `
  const line = fitLine(out, shown + value, 0)
  return line.startsWith(shown) ? out.style('dim', shown) + line.slice(shown.length) : line
}

function listNames(names: readonly string[] | undefined): string | undefined {
  return names === undefined || names.length === 0 ? undefined : names.join(', ')
}

/** Shows the progress that a run reports; undefined if it reports none. */
export function showProgress({ progress }: RunJson): string | undefined {
  if (progress === undefined) return undefined
  const { done, total, message } = progress
  const share = total === undefined ? `${done} done` : `${done} of ${total}`
  return message === undefined ? share : `${share}: ${message}`
}

function at(position: number | undefined, operation: string | undefined): string | undefined {
  return position === undefined || operation === undefined
    ? operation
    : `${operation} at position ${position}`
}

function showMs(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`
}

function clip(text: string): string {
  return text.length <= 100 ? text : `${text.slice(0, 99)}…`
}
