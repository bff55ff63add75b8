import {
  type Answered,
  type AskRow,
  askStatusCode,
  type Claimant,
  feedCode,
  type Message,
  messageKindCode,
  type NewAnswer,
  refuseMessage,
} from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'
import { listIntegers, listTexts } from '../connection/fast-path/lists.ts'
import { Statement } from '../connection/fast-path/statement.ts'
import type { Value } from '../connection/fast-path/values.ts'
import type { Ownership } from '../connection/ownership.ts'
import { type Names, storeTime } from '../names.ts'
import { onePerRow, unindexed } from '../schema/planner.ts'
import { drawToken } from '../token.ts'
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
import { answerColumns } from './rows.ts'

export type Answer = (
  answers: readonly NewAnswer[],
  claimant: Claimant | null,
) => Promise<readonly Answered[]>

/** An answer to be written. Its token identifies an earlier attempt whose reply was lost. */
interface PendingAnswer extends NewAnswer {
  readonly token: string
}

export function prepareAnswer(
  database: Database,
  ownership: Ownership,
  findAsk: (run: string, position: number) => Promise<AskRow | null>,
): Answer {
  const single = new Statement(writeSingle(database.names))
  const many = new Statement(writeAnswer(database.names))

  /** Undefined: the answer must be written again. */
  async function showAnswered(
    reply: PendingAnswer,
    row: AnsweredRow,
    handover: ClaimHandover,
  ): Promise<Answered | undefined> {
    switch (row.verdict) {
      case 'again':
        return undefined
      case 'missing':
        return { outcome: 'missing' }
      case 'answered':
        return {
          outcome: 'answered',
          run: row.run,
          message: row.n === null ? null : showMessage(reply, row.n, row.at),
          claimed: handover.give(row),
        }
      case 'closed': {
        const refused = row.state === 0 ? undefined : refuseMessage(row.state)
        if (refused?.outcome === 'damaged') return refused
        const ask = await findAsk(reply.run, reply.position)
        return ask ? { outcome: 'closed', ask } : { outcome: 'missing' }
      }
    }
  }

  return (answers, claimant) => {
    const replies = answers.map((answer) => ({ ...answer, token: drawToken() }))
    return deliverByStatements<PendingAnswer, AnsweredRow, Answered>(database, ownership, claimant, replies, {
      ...{ sizeOf, show: showAnswered },
      single: { statement: single, bind: bindSingle },
      many: { statement: many, bind },
    })
  }
}

interface AnsweredRow extends DeliveredRow {
  readonly i: number
  readonly verdict: 'missing' | 'again' | 'answered' | 'closed'
  /** Code of the run's state. */
  readonly state: number
  readonly at: number
  /** Number of the message, if this statement inserted it. */
  readonly n: number | null
}

function showMessage({ position, payload }: PendingAnswer, n: number, at: number): Message {
  return { n, at, kind: 'answer', name: String(position), by: null, payload }
}

function bindSingle(reply: PendingAnswer): readonly Value[] {
  const { run, position, token } = reply
  return [run, position, token, ...answerColumns.one(reply)]
}

function bind(replies: readonly PendingAnswer[]): readonly Value[] {
  return [
    listTexts(replies.map(({ run }) => run)),
    listIntegers(replies.map(({ position }) => position)),
    listTexts(replies.map(({ token }) => token)),
    ...answerColumns.lists(replies),
  ]
}

const firstGiven = 4
const firstOfClaimant = firstGiven + answerColumns.count

function sizeOf({ payload }: PendingAnswer): number {
  return 300 + payload.length
}

const isOpen = `${unindexed('a.status')} = ${askStatusCode.numberOf.open}`

/** Writes one answer to an open ask, at half the cost. */
function writeSingle(names: Names): string {
  const { runs, asks, askTo, messages, news } = names
  return `
    with clock as materialized (select ${storeTime} as now),
    locked as materialized (
      select run, id, head, mail, worker, state, mark, tries, positives, wake_at, procedure, version from ${runs}
      where id = $1 and state = 0 for no key update),
    won as (
      update ${asks} a
      set status = ${askStatusCode.numberOf.answered}, closed_at = now, token = $3,
        (${answerColumns.names}) = row(${answerColumns.numbered(firstGiven)})
      from locked l cross join clock
      where a.run = l.run and a.position = $2::int
        and ${isOpen} and (a.closes_at is null or a.closes_at > now)
      returning a.run, a.answer),
    unlisted as (
      delete from ${askTo} t using won where t.run = won.run and t.position = $2::int),
    told as (
      insert into ${news} (run, at, position, kind)
      select run, now, $2::int, ${feedCode.numberOf['ask-closed']} from won cross join clock),
    inserted as (
      insert into ${messages} (run, at, n, kind, name, payload)
      select l.run, now, l.mail + 1, ${messageKindCode.numberOf.answer}, $2::int::text, won.answer
      from locked l join won on won.run = l.run cross join clock returning run, n, at),
    bumped as materialized (select run, n as mail from inserted),
    touched as materialized (select run from inserted),
    ${wakeRuns(names, firstOfClaimant)}
    select 1 as i, 'answered' as verdict, 0 as state, x.run, x.at, x.n, ${claimedColumns}
    from inserted x join woken w on w.run = x.run`
}

function writeAnswer(names: Names): string {
  const { asks, askTo, messages, news } = names
  return `
    with clock as materialized (select ${storeTime} as now),
    reply as materialized (
      select *, row_number() over (partition by id, position order by i) = 1 as is_first
      from unnest(${numberParameters(1, `text[], int[], text[], ${answerColumns.types}`)}) with ordinality
        as m(id, position, token, ${answerColumns.names}, i)),
    ${lockRuns(names, '$1')},
    judged as materialized (
      select m.*, l.run, l.state, l.mail, ${isStale} as stale,
        case when l.run is null then 'missing'
             when a.run is null then case when ${isStale} then 'again' else 'missing' end
             when a.token = m.token then 'answered'
             when m.is_first and l.state = 0 then 'new'
             else 'closed' end as verdict
      from reply m
      left join locked l on l.id = m.id
      left join seen s on s.run = l.run
      left join lateral (
        select run, token from ${asks} where run = l.run and position = m.position ${onePerRow}) a on true),
    won as (
      update ${asks} a
      set status = ${askStatusCode.numberOf.answered}, closed_at = now, token = j.token,
        (${answerColumns.names}) = row(${answerColumns.of('j')})
      from judged j cross join clock
      where a.run = j.run and a.position = j.position and j.verdict = 'new'
        and ${isOpen} and (a.closes_at is null or a.closes_at > now)
      returning j.i),
    unlisted as (
      delete from ${askTo} t using judged j join won on won.i = j.i
      where t.run = j.run and t.position = j.position),
    told as (
      insert into ${news} (run, at, position, kind)
      select j.run, now, j.position, ${feedCode.numberOf['ask-closed']}
      from judged j join won on won.i = j.i cross join clock),
    inserted as (
      insert into ${messages} (run, at, n, kind, name, payload)
      select j.run, now, j.mail + row_number() over (partition by j.run order by j.i),
        ${messageKindCode.numberOf.answer}, j.position::text, j.answer
      from judged j join won on won.i = j.i cross join clock
      returning run, n, name),
    bumped as materialized (select run, max(n) as mail from inserted group by run),
    touched as materialized (
      select distinct j.run from judged j left join won on won.i = j.i
      where won.i is not null or j.verdict = 'answered'),
    ${wakeRuns(names, firstOfClaimant)}
    select j.i::int, j.run, j.state, now as at,
      case when won.i is not null then 'answered'
           when j.verdict <> 'new' then j.verdict
           -- Closed meanwhile; perhaps by an attempt of ours that was not heard of.
           when j.stale then 'again'
           else 'closed' end as verdict,
      x.n, ${claimedColumns}
    from judged j cross join clock
    left join won on won.i = j.i
    left join inserted x on won.i is not null and x.run = j.run and x.name = j.position::text
    left join woken w on w.run = j.run and (won.i is not null or j.verdict = 'answered')
    order by j.i`
}
