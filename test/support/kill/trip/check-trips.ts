import { decodePayload } from '@pawl/core/internal'
import { type Acknowledged, type Findings, findProblems } from '../check.ts'
import type { AskRow, EventRow, Rows, RunRow } from '../place.ts'
import { type Fate, fateOf, legs } from './trip.ts'

const [settled, withdrawn, cancelled, ended] = [3, 4, 5, 6]
const undoKind = 11
const states = ['live', 'completed', 'failed', 'cancelled'] as const
const askStates = ['open', 'answered', 'timed-out', 'withdrawn'] as const

/** Looks through what is stored of trips and what was done for them. */
export function checkTrips(rows: Rows, ledger: string, acknowledged: Acknowledged): Findings {
  return findProblems(rows, ledger, acknowledged, {
    nameOf: ({ kind, name }) => (kind === undoKind ? `undo ${name}` : kind === 0 ? name : null),
    checkEnd: (run, log) => [
      ...checkEnd(run, log, acknowledged),
      ...checkUndos(run, log),
      ...checkCleanup(log),
      ...checkAsks(
        log,
        rows.asks.filter((ask) => ask.run === run.run),
        acknowledged.answers.has(run.id),
      ),
    ],
  })
}

const numberOf = ({ id }: RunRow): number => Number(id.split(' ')[1])

function checkEnd(run: RunRow, log: readonly EventRow[], acknowledged: Acknowledged): string[] {
  const last = log.at(-1)
  if (run.mark !== 0 || last?.type !== ended || log.filter(({ type }) => type === ended).length !== 1)
    return [`it does not end once (state ${run.state}, mark ${run.mark})`]
  const problems: string[] = []
  const fate = fateOf(numberOf(run))
  const state = states[run.state] ?? 'unknown'
  const cancels = log.filter(({ type }) => type === cancelled).length
  if (cancels > 1) problems.push(`it was cancelled ${cancels} times`)
  if (cancels > 0 && !acknowledged.cancels.has(run.id)) problems.push('it was cancelled by its own')
  if (state !== naturalEnd[fate] && !(state === 'cancelled' && cancels > 0))
    problems.push(`its fate was to ${fate}, and it is ${state}`)
  const paid = acknowledged.signals.get(run.id)
  if (state !== 'completed') return problems
  const { cents } = decodePayload(last.payload as Uint8Array) as { readonly cents: number }
  if (cents !== paid) problems.push(`${paid} was acknowledged, ${cents} received`)
  return problems
}

const naturalEnd: { readonly [fate in Fate]: (typeof states)[number] } = {
  complete: 'completed',
  fail: 'failed',
  cancel: 'cancelled',
  'roll back': 'completed',
}

/** Everything that was done before the end is undone once, in the reverse order of the log. */
function checkUndos(run: RunRow, log: readonly EventRow[]): string[] {
  const names = log.filter(({ type, kind }) => type === settled && kind === undoKind).map(({ name }) => name)
  const done = listDone(log)
  const isUndone = states[run.state] !== 'completed' || fateOf(numberOf(run)) === 'roll back'
  const expected = isUndone ? [...(isBooked(done) ? ['tell'] : []), ...done.toReversed()] : []
  if (names.join() === expected.join()) return []
  return [`undone is [${names.join(', ')}], and should be [${expected.join(', ')}]`]
}

/** The steps with an undo whose results the procedure has received. A cancel is the last that it receives outside of shields. */
function listDone(log: readonly EventRow[]): readonly string[] {
  return log
    .slice(0, log.find(({ type }) => type === cancelled)?.seq)
    .filter(({ type, kind, name }) => type === settled && kind === 0 && /^(hold|book \d)$/.test(name))
    .map(({ name }) => name)
}

const isBooked = (done: readonly string[]): boolean => done.length === legs.length + 1

/** The shields of a race that has begun, and of a shipment that has, run once each. */
function checkCleanup(log: readonly EventRow[]): string[] {
  const count = (name: string): number =>
    log.filter((event) => event.type === settled && event.name === name).length
  const releases = isBooked(listDone(log)) ? 1 : 0
  return [
    ...(count('release') === releases ? [] : [`it was released ${count('release')} times, not ${releases}`]),
    ...(count('ship') <= count('tidy') && count('tidy') <= 1 ? [] : [`it was tidied ${count('tidy')} times`]),
  ]
}

/** No ask is open after the end; an answer that was acknowledged is in the log, and what was withdrawn says so once. */
function checkAsks(log: readonly EventRow[], asks: readonly AskRow[], isAnswered: boolean): string[] {
  const problems: string[] = []
  for (const { position, status } of asks) {
    const own = log.filter((event) => event.position === position)
    const results = own.filter(({ type }) => type === settled).length
    const withdrawals = own.filter(({ type }) => type === withdrawn).length
    const as = askStates[status] ?? 'unknown'
    if (as === 'open') problems.push(`it has ended, and ask ${position} is open`)
    if (results !== (as === 'answered' ? 1 : 0) || withdrawals !== (as === 'withdrawn' ? 1 : 0))
      problems.push(`ask ${position} is ${as}, with ${results} results and ${withdrawals} withdrawals`)
  }
  const answered = asks.filter(({ status }) => askStates[status] === 'answered').length
  if (isAnswered && answered !== 1) problems.push('an answer was acknowledged and is lost')
  return problems
}
