import { type Claimant, messageKindCode, type NewMessage, refuseMessage, type Sent } from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'
import { listTexts } from '../connection/fast-path/lists.ts'
import { Statement } from '../connection/fast-path/statement.ts'
import type { Value } from '../connection/fast-path/values.ts'
import type { Ownership } from '../connection/ownership.ts'
import { type Names, storeTime } from '../names.ts'
import { onePerRow } from '../schema/planner.ts'
import { drawKey } from '../token.ts'
import { numberParameters } from './columns.ts'
import {
  type ClaimHandover,
  claimedColumns,
  type DeliveredRow,
  deliverByStatements,
  isStale,
  lockRuns,
  wakeRuns,
} from './delivery.ts'
import { heldList, isHolding } from './hold.ts'
import { messageColumns } from './rows.ts'

export type Send = (messages: readonly NewMessage[], claimant: Claimant | null) => Promise<readonly Sent[]>

/** A message to be written. `key`: its own or a generated one, which identifies an attempt whose reply was lost. */
interface PendingMessage extends Omit<NewMessage, 'key'> {
  readonly key: string
  readonly isKeyMade: boolean
}

export function prepareSend(database: Database, ownership: Ownership): Send {
  const single = new Statement(writeSingle(database.names))
  const many = new Statement(writeSend(database.names))

  return (messages, claimant) => {
    const pending = messages.map((message) => ({
      ...message,
      key: message.key ?? drawKey(),
      isKeyMade: message.key === null,
    }))
    return deliverByStatements<PendingMessage, SentRow, Sent>(database, ownership, claimant, pending, {
      ...{ sizeOf, show: showSent },
      single: { statement: single, bind: bindSingle, isFor: isFresh },
      many: { statement: many, bind },
    })
  }
}

interface SentRow extends DeliveredRow {
  readonly i: number
  readonly verdict: 'missing' | 'duplicate' | 'asked' | 'again' | 'ended' | 'held' | 'new'
  /** Its number and time, if this statement inserted it. */
  readonly n: number | null
  readonly at: number
  readonly position: number | null
  readonly state: number
}

/** Undefined: the message must be sent again. */
function showSent(message: PendingMessage, row: SentRow, handover: ClaimHandover): Sent | undefined {
  switch (row.verdict) {
    case 'again':
      return undefined
    case 'missing':
      return { outcome: 'missing' }
    case 'held':
      return { outcome: 'held' }
    case 'asked':
      return { outcome: 'asked', position: row.position ?? 0 }
    case 'ended':
      return refuseMessage(row.state)
    default: {
      const { n, at, run } = row
      const { kind, name, by, payload, isKeyMade } = message
      const stored = n === null ? null : { n, at, kind, name, by, payload }
      const outcome = stored || isKeyMade ? 'stored' : 'duplicate'
      return { outcome, run, message: stored, claimed: handover.give(row) }
    }
  }
}

/** Returns whether the message cannot exist yet and only the run's state decides about it. */
function isFresh({ kind, isKeyMade }: PendingMessage): boolean {
  return kind === 'signal' && isKeyMade
}

function bindSingle(message: PendingMessage): readonly Value[] {
  return [message.run, ...messageColumns.one(message)]
}

function bind(pending: readonly PendingMessage[]): readonly Value[] {
  return [listTexts(pending.map(({ run }) => run)), ...messageColumns.lists(pending)]
}

const firstOfClaimant = 2 + messageColumns.count

function sizeOf({ payload }: PendingMessage): number {
  return 300 + (payload?.length ?? 0)
}

/** Writes one message that only the state of its run can refuse, at half the cost. */
function writeSingle(names: Names): string {
  return `
    with clock as materialized (select ${storeTime} as now),
    locked as materialized (
      select run, id, head, mail, worker, state, mark, tries, positives, wake_at, procedure, version from ${names.runs} r
      where id = $1 and state = 0 and not coalesce(${isHolding('r')}, false) for no key update),
    inserted as (
      insert into ${names.messages} (run, at, n, ${messageColumns.names})
      select run, now, mail + 1, ${messageColumns.numbered(2)} from locked cross join clock returning run, n, at),
    bumped as materialized (select run, n as mail from inserted),
    touched as materialized (select run from inserted),
    ${wakeRuns(names, firstOfClaimant)}
    select 1 as i, 'new' as verdict, x.run, null as position, 0 as state, x.n, x.at, ${claimedColumns}
    from inserted x join woken w on w.run = x.run`
}

function writeSend(names: Names): string {
  const early = messageKindCode.numberOf.early
  return `
    with clock as materialized (select ${storeTime} as now),
    message as materialized (
      select * from unnest(${numberParameters(1, `text[], ${messageColumns.types}`)}) with ordinality
        as m(id, ${messageColumns.names}, i)),
    ${lockRuns(names, '$1')},
    found as materialized (
      select m.*, l.run, l.state, l.mail, a.position,
        case when l.run is null then 'missing'
             when d.run is not null then 'duplicate'
             when a.run is not null then 'asked'
             -- Who came first is only certain when nothing changed since the statement began.
             when (m.kind = ${early} or l.state <> 0) and ${isStale} then 'again'
             when l.state <> 0 then 'ended'
             when m.kind in ${heldList} and ${isHolding('l')} then 'held'
             else 'new' end as first_verdict
      from message m
      left join locked l on l.id = m.id
      left join seen s on s.run = l.run
      left join lateral (select run from ${names.messages} where run = l.run and key = m.key ${onePerRow}) d on true
      left join lateral (select run, position from ${names.asks} where run = l.run and key = m.name ${onePerRow}) a
        on m.kind = ${early}),
    judged as materialized (
      select *, case when first_verdict in ('new', 'asked') and count(*) filter (where first_verdict = 'new') over (
          partition by run, key order by i rows between unbounded preceding and 1 preceding) > 0
        then 'duplicate' else first_verdict end as verdict
      from found),
    numbered as materialized (
      select *, mail + (row_number() over (partition by run order by i))::int as n from judged where verdict = 'new'),
    inserted as (
      insert into ${names.messages} (run, at, n, ${messageColumns.names})
      select m.run, now, m.n, ${messageColumns.of('m')} from numbered m cross join clock order by m.run, m.n
      on conflict (run, key) where key is not null do nothing returning run, n),
    bumped as materialized (select run, max(n) as mail from inserted group by run),
    touched as materialized (select distinct run from judged where verdict in ('new', 'duplicate')),
    ${wakeRuns(names, firstOfClaimant)}
    select j.i::int, j.verdict, j.run, j.position, j.state, x.n, now as at, ${claimedColumns}
    from judged j cross join clock
    left join numbered n on n.i = j.i
    left join inserted x on x.run = n.run and x.n = n.n
    left join woken w on w.run = j.run and j.verdict in ('new', 'duplicate')
    order by j.i`
}
