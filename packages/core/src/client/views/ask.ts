import { readAskPayload } from '../../asks/ask.ts'
import { decisionsOf } from '../../asks/decisions.ts'
import { digestOf } from '../../asks/digest.ts'
import type { RiskDetails, Section } from '../../authoring/human/ask.ts'
import { docsPage } from '../../base/docs.ts'
import type { Actor, Audience } from '../../base/people.ts'
import type { AskStatus, Severity } from '../../base/words.ts'
import { tellFailure } from '../../errors/failure.ts'
import { decode } from '../../events/payload.ts'
import type { AskPayload, GivenAnswer } from '../../events/payloads.ts'
import { readAskSlot } from '../../ports/ask-slot.ts'
import { type KnownAsk, readAsk, understand } from '../../ports/rows.ts'
import type { AskRow } from '../../ports/store/asks.ts'
import type { Connection } from '../connection.ts'
import type { Answer, Ask } from './views.ts'

/** Returns the public view of an ask at `now`, by the store's clock. Logs a warning and returns null if it is unreadable. */
export function showAsk(connection: Connection, row: AskRow, now: number): Ask | null {
  try {
    return readAskView(connection, row, now)
  } catch (error) {
    connection.warnOnce(
      `Ask ${connection.askIds.describe(row)} cannot be read and is omitted: ${(error as Error).message}. See ${docsPage('errors/run-quarantined')}`,
    )
    return null
  }
}

/** As {@link showAsk}. @throws PayloadCorrupt, RowCorrupt, WrittenLater */
export function readAskView(connection: Connection, row: AskRow, now: number): Ask {
  return understand(() => toAskView(connection, readAsk(row), now))
}

function toAskView({ askIds, sha256 }: Connection, row: KnownAsk, now: number): Ask {
  const pinned = readAskPayload(row.payload)
  const status = askStatusOf(row, now)
  const choices = (pinned.choices ?? []).map(({ value, label, effect, style }) => ({
    value,
    label: label ?? value,
    effect,
    style,
  }))
  const risk = pinned.risk as RiskDetails | undefined
  return {
    id: askIds.idOf(row),
    // Computed when it is read.
    get digest() {
      return digestOf(sha256, row)
    },
    run: row.run,
    procedure: row.procedure,
    position: readAskSlot(row.position).position,
    key: row.key ?? undefined,
    kind: pinned.kind,
    status,
    message: pinned.message,
    params: pinned.params,
    editable: pinned.editable ?? [],
    schema: pinned.schema,
    choices,
    decisions: decisionsOf({
      ...{ kind: pinned.kind, choices, risk, effects: pinned.effects, require: pinned.require },
    }),
    artifact: pinned.artifact,
    baseline: pinned.baseline,
    as: pinned.as as Section['as'] | undefined,
    initial: pinned.initial,
    severity: pinned.severity as Severity | undefined,
    error: pinned.error === undefined ? undefined : tellFailure(pinned.error),
    alternatives: pinned.alternatives ?? [],
    risk,
    startedBy: (row.startedBy ?? undefined) as Actor | undefined,
    alsoStartedBy: (pinned.starters ?? []) as readonly Actor[],
    to: readAudience(row, now),
    details: (pinned.details ?? []) as readonly Section[],
    links: pinned.links ?? [],
    history: pinned.history ?? [],
    askedAt: new Date(row.openedAt),
    dueAt: row.dueAt === null ? undefined : new Date(row.dueAt),
    onTimeout: row.dueAt === null ? undefined : describeSilence(pinned, row.escalateTo),
    overdue: isOverdue(row, now),
    channels: pinned.channels,
    require: pinned.require,
    deliveries: undefined,
    claimedBy: undefined,
    answer: answerOf(row),
  }
}

/** Once it is overdue it is also addressed to whom it is escalated. What is addressed to everyone stays so. */
function readAudience({ to, escalateTo, dueAt }: KnownAsk, now: number): readonly Audience[] {
  const isOverdue = dueAt !== null && dueAt <= now
  return (isOverdue && to.length > 0 ? [...new Set([...to, ...escalateTo])] : to) as readonly Audience[]
}

/** Returns the status of an ask: timed out as soon as its timeout passes, even if no worker has recorded it yet. */
export function askStatusOf({ status, closesAt }: KnownAsk, now: number): AskStatus {
  return status === 'open' && closesAt !== null && closesAt <= now ? 'timed-out' : status
}

function isOverdue(row: KnownAsk, now: number): boolean {
  return askStatusOf(row, now) === 'open' && row.dueAt !== null && row.dueAt <= now
}

function describeSilence({ silence, kind }: AskPayload, escalateTo: readonly string[]): string {
  switch (silence.do) {
    case 'reject':
      return 'counts as a rejection'
    case 'approve':
      return 'counts as an approval'
    case 'fail':
      return 'the procedure receives an error'
    case 'keep-waiting':
      return 'the ask stays open'
    case 'escalate':
      return escalateTo.length === 0
        ? 'the ask stays open and is escalated'
        : `the ask stays open and is shown to ${escalateTo.join(', ')}`
    case 'default':
      return kind === 'input' ? 'the default is used' : `counts as ${String(silence.value)}`
  }
}

function answerOf(row: KnownAsk): Ask['answer'] {
  if (row.answer === null || row.answeredBy === null || row.closedAt === null) return undefined
  const { answer, via, madeBy, actedBy } = decode(row.answer) as GivenAnswer
  return {
    ...(answer as Answer),
    ...{ by: row.answeredBy as Actor, at: new Date(row.closedAt) },
    ...(via === undefined ? {} : { via }),
    ...(madeBy === undefined ? {} : { madeBy: madeBy as Actor }),
    ...(actedBy === undefined ? {} : { actedBy: actedBy as Actor }),
  }
}
