import {
  askStatusCode,
  copyKeptMs,
  type DecisionRow,
  type EndedRow,
  eventTypeCode,
  hiddenState,
  hideId,
  markCode,
  messageKindCode,
  type Removed,
  showEndedPage,
  stateCode,
  type WholeStore,
} from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'
import { listBigints, listBytes, listIntegers, listTexts } from '../connection/fast-path/lists.ts'
import { Statement } from '../connection/fast-path/statement.ts'
import { type Names, storeTime } from '../names.ts'
import { type StoredAsk, showAsk } from '../reads/asks.ts'
import { maxMail } from './commit-wide.ts'

const { live } = stateCode.numberOf
const askColumns =
  'position, status, urgency, opened_at, due_at, closes_at, closed_at, kind, key, audience, escalate_to, answered_by, payload, answer'

export function prepareRemovals(database: Database): WholeStore['removals'] {
  const statements = writeStatements(database.names)
  const count = async (statement: Statement, limit: number): Promise<number> => {
    const [row] = await database.repeat(() => database.run<{ count: number }>(statement, [limit]))
    return row?.count ?? 0
  }
  return {
    async remove(runs) {
      const verdicts = new Map<number, Removed>()
      let isRepeated = false
      for (let left = [...runs]; left.length > 0; ) {
        const rows = await database.repeat((isAgain) => {
          isRepeated ||= isAgain
          const values = [listBigints(left), hideId('removed ')]
          return database.run<{ run: number; verdict: Removed | 'again' | 'hidden' }>(
            statements.remove,
            values,
          )
        })
        // Hidden by an attempt whose reply was lost.
        for (const { run, verdict } of rows)
          if (verdict === 'hidden') verdicts.set(run, isRepeated ? 'removed' : 'missing')
          else if (verdict !== 'again') verdicts.set(run, verdict)
        left = rows.filter(({ verdict }) => verdict === 'again').map(({ run }) => run)
      }
      return runs.map((run) => verdicts.get(run) ?? 'missing')
    },
    async removeQuarantined({ run, seen, messages }) {
      const targets = messages.map(({ run: id }) => id)
      const names = messages.map(({ name }) => name)
      const payloads = messages.map(({ payload }) => payload)
      const fixed = [run, seen, listTexts(targets), listTexts(names), listBytes(payloads), hideId('removed ')]
      let isRepeated = false
      const [row] = await database.repeat((isAgain) => {
        isRepeated ||= isAgain
        return database.run<{ verdict: 'removed' | 'changed' | 'hidden' }>(
          statements.removeQuarantined,
          fixed,
        )
      })
      // Hidden by an attempt whose reply was lost.
      if (row?.verdict === 'hidden' && isRepeated) return 'removed'
      return row === undefined || row.verdict === 'hidden' ? 'missing' : row.verdict
    },
    async clear(limit) {
      await database.repeat(() => database.run(statements.giveUp, [hideId('removed ')]))
      const events = await count(statements.clearEvents, limit)
      const messages = await count(statements.clearMessages, limit)
      await database.repeat(() => database.run(statements.clearRuns, []))
      return events === limit || messages === limit
    },
    async dropGeneration(run, before, limit) {
      const [row] = await database.repeat(() =>
        database.run<{ count: number }>(statements.drop, [run, before, limit]),
      )
      return row?.count ?? 0
    },
    async ended(before, span) {
      return showEndedPage(await database.read<EndedRow>(statements.ended.text, [before, span]), span)
    },
    async decisions({ run, procedure, before, limit }) {
      const place = before ?? { run: Number.MAX_SAFE_INTEGER, position: 0 }
      const values = [run, procedure, place.run, place.position, limit]
      const rows = await database.read<StoredDecision>(statements.decisions.text, values)
      return rows.map((row) => ({ ...showAsk(row), digest: row.digest }))
    },
    async sealDecisions(seals) {
      const values = [
        listBigints(seals.map(({ run }) => run)),
        listIntegers(seals.map(({ position }) => position)),
        listBytes(seals.map(({ digest }) => digest)),
      ]
      await database.repeat(() => database.run(statements.seal, values))
    },
    async forgetDecisions(procedure, before, limit) {
      const rows = await database.repeat(() => database.run(statements.forget, [procedure, before, limit]))
      return rows.length
    },
    async decidedProcedures() {
      const rows = await database.read<{ procedure: string }>(statements.procedures.text, [])
      return rows.map(({ procedure }) => procedure)
    },
  }
}

type StoredDecision = StoredAsk & Pick<DecisionRow, 'digest'>

type Name =
  | 'remove'
  | 'removeQuarantined'
  | 'giveUp'
  | 'clearEvents'
  | 'clearMessages'
  | 'clearRuns'
  | 'drop'
  | 'ended'
  | 'decisions'
  | 'seal'
  | 'forget'
  | 'procedures'

function writeStatements(names: Names): Record<Name, Statement> {
  const { runs, runInfo, events, messages, decisions } = names
  const removed = `select run from ${runs} where state = ${hiddenState} and created_at = 0`
  const clear = (table: string, number: string): string => `
    with gone as (
      delete from ${table} where (run, ${number}) in (
        select t.run, t.${number} from (${removed}) r cross join lateral (
          select run, ${number} from ${table} where run = r.run limit $1) t limit $1)
      returning 1)
    select count(*)::int as count from gone`
  return {
    remove: new Statement(`
      with seen as materialized (select run, mail from ${runs} where run = any($1::bigint[])),
      locked as materialized (
        select run, state, mail from ${runs} where run = any($1::bigint[]) order by run for update),
      judged as materialized (
        select l.run, case when l.state = ${hiddenState} then 'hidden'
                           when l.state = ${live} then 'live'
                           -- An answer that came since the statement began is not seen by it.
                           when l.mail <> s.mail then 'again'
                           else 'removed' end as verdict
        from locked l join seen s on s.run = l.run),
      chosen as materialized (select run from judged where verdict = 'removed'),
      ${takeOut(names, '$2')}
      select run, verdict from judged`),
    removeQuarantined: new Statement(`
      with clock as materialized (select ${storeTime} as now),
      locked as materialized (
        select run, id, state, mark, worker, mail from ${runs}
        where run = $1 or id = any($3::text[]) order by run for update),
      judged as materialized (
        select run, case when state = ${hiddenState} then 'hidden'
                         when state <> ${live} or mark <> ${markCode.numberOf.quarantined} or worker is not null or mail <> $2 then 'changed'
                         else 'removed' end as verdict
        from locked where run = $1),
      chosen as materialized (select run from judged where verdict = 'removed'),
      sent as materialized (
        select l.run, l.mail + (row_number() over (partition by l.run order by s.k))::int as n, s.name, s.payload
        from unnest($3::text[], $4::text[], $5::bytea[]) with ordinality as s(id, name, payload, k)
        join locked l on l.id = s.id and l.state = ${live} and l.run <> $1 and l.mail < ${maxMail}
        cross join chosen),
      -- Of a run whose counter is behind its messages none is stored: its owner will find the damage.
      delivered as (
        insert into ${messages} (run, at, n, kind, name, key, payload)
        select run, now, n, ${messageKindCode.numberOf.ended}, name, null, payload from sent cross join clock order by run, n
        on conflict do nothing returning run, n),
      woken as (
        update ${runs} r set mail = b.mail,
          wake_at = case when r.worker is null and r.mark = 0 then least(r.wake_at, now) else r.wake_at end
        from (select run, max(n) as mail from delivered group by run) b cross join clock where r.run = b.run),
      ${takeOut(names, '$6')}
      select verdict from judged`),
    // Its parts that are still to come are lost.
    giveUp: new Statement(`
      update ${runs} set created_at = 0, id = $1 || run::text
      where state = ${hiddenState} and created_at > 0 and created_at < (select ${storeTime}) - ${copyKeptMs}`),
    clearEvents: new Statement(clear(events, 'seq')),
    clearMessages: new Statement(clear(messages, 'n')),
    clearRuns: new Statement(`
      delete from ${runs} r where state = ${hiddenState} and created_at = 0
        and not exists (select from ${events} e where e.run = r.run)
        and not exists (select from ${messages} m where m.run = r.run)`),
    drop: new Statement(`
      with base as materialized (select base from ${runs} where run = $1 and state <> ${hiddenState}),
      first as materialized (select min(seq) as seq from ${events} where run = $1),
      next as materialized (
        select e.seq, e.at from base, first cross join lateral (
          select seq, at from ${events}
          where run = $1 and seq > first.seq and seq <= base.base and type = ${eventTypeCode.numberOf.started}
          order by seq limit 1) e),
      gone as (
        delete from ${events} where run = $1 and seq in (
          select e.seq from next cross join lateral (
            select seq from ${events} where run = $1 and seq < next.seq order by seq limit $3) e
          where next.at < $2::bigint)
        returning 1)
      select count(*)::int as count from gone`),
    ended: new Statement(`
      select r.run, r.id, r.procedure, r.state, r.base, f.ended_at as "endedAt", f.parent
      from (select run, id, procedure, state, base from ${runs} where $1::bigint is null or run < $1 order by run desc limit $2) r
      left join ${runInfo} f on f.run = r.run order by r.run desc`),
    decisions: new Statement(`
      select run, id, procedure, started_by, digest, ${askColumns} from ${decisions}
      where ($1::text is null or id = $1) and ($2::text is null or procedure = $2)
        and (run, position) < ($3::bigint, $4::int)
      order by run desc, position desc limit $5`),
    seal: new Statement(`
      update ${decisions} d set digest = s.digest
      from unnest($1::bigint[], $2::int[], $3::bytea[]) as s(run, position, digest)
      where d.run = s.run and d.position = s.position and d.digest is null`),
    forget: new Statement(`
      delete from ${decisions} where (run, position) in (
        select run, position from ${decisions} where procedure = $1 and closed_at < $2::bigint limit $3)
      returning run`),
    procedures: new Statement(`select distinct procedure from ${decisions}`),
  }
}

/** SQL: takes the `chosen` runs out of all tables except the ones that `clear` empties. `hidden`: the parameter of the hidden id. */
function takeOut(names: Names, hidden: string): string {
  const { runs, runInfo, runState, checkpoints, notices, noticeTo, noticeReads, asks, askTo, decisions } =
    names
  return `archived as (
        insert into ${decisions} (run, id, procedure, started_by, ${askColumns})
        select a.run, r.id, r.procedure, f.started_by, ${askColumns}
        from chosen c join ${asks} a on a.run = c.run and a.status = ${askStatusCode.numberOf.answered}
        join (select run as its, id, procedure from ${runs}) r on r.its = c.run
        join (select run as its, started_by from ${runInfo}) f on f.its = c.run),
      unasked as (delete from ${asks} t using chosen c where t.run = c.run),
      unlisted as (delete from ${askTo} t using chosen c where t.run = c.run),
      unsaved as (delete from ${checkpoints} t using chosen c where t.run = c.run),
      unaddressed as (delete from ${noticeTo} t using ${notices} x, chosen c where x.run = c.run and t.n = x.n),
      unread as (delete from ${noticeReads} t using ${notices} x, chosen c where x.run = c.run and t.n = x.n),
      unnoticed as (delete from ${notices} t using chosen c where t.run = c.run),
      unshown as (delete from ${runState} t using chosen c where t.run = c.run),
      undescribed as (delete from ${runInfo} t using chosen c where t.run = c.run),
      hidden as (
        update ${runs} r set state = ${hiddenState}, mark = 0, wake_at = null, cancel_at = null, created_at = 0,
          id = ${hidden} || r.run::text
        from chosen c where r.run = c.run)`
}
