import { feedCode, markCode, messageKindCode, type Unit } from '@pawl/core/storage'
import { Statement } from '../connection/fast-path/statement.ts'
import type { Value } from '../connection/fast-path/values.ts'
import { type Names, storeTime } from '../names.ts'
import { onePerRow, unindexed } from '../schema/planner.ts'
import { eventColumns, numberParameters, writeRows } from './columns.ts'
import { bindFull, firstEvent, firstOther, judgement, verdicts, writeEffects } from './commit-statements.ts'
import { heldList, isHolding } from './hold.ts'
import { writeNames } from './notices.ts'
import { infoColumns, messageColumns, runColumns, unitColumns } from './rows.ts'
import { WideEffects } from './wide-effects.ts'

const sendTypes = `int[], int[], text[], bool[], ${messageColumns.types}`
const childTypes = `int[], int[], text[], int[], ${runColumns.types}, ${infoColumns.types}`
const firstChild = firstOther + sendTypes.split(', ').length
const firstStarted = firstChild + childTypes.split(', ').length
const firstReply = firstStarted + eventColumns.length
const replyTypes = 'int[], int[], bytea[], bool[]'
const firstState = firstReply + replyTypes.split(', ').length
const stateTypes = 'int[], text[], bytea[]'
const firstReplaced = firstState + stateTypes.split(', ').length
const replacedTypes = 'int[], int[], text[]'
const firstBase = firstReplaced + replacedTypes.split(', ').length

const firstCheckpoint = firstBase + 1
const checkpointTypes = 'int[], int[], int[], text[], bytea[]'

const { cancel } = messageKindCode.numberOf
const { quarantined } = markCode.numberOf
const isQuarantinedCancel = `(s.kind = ${cancel} and t.mark = ${quarantined})`
const isHeld = `(s.kind in ${heldList} and ${isHolding('t')})`
const firstNotice = firstCheckpoint + checkpointTypes.split(', ').length
const noticeTypes = 'int[], int[], int[], int2[], int2[], text[], bytea[]'
/** SQL: both are over before an ask is opened. */
const gaveWay =
  ' cross join (select count(*) from replaced) as g1 cross join (select count(*) from renamed) as g2'
/** The largest number that the mail counter holds. */
export const maxMail: number = 2 ** 31 - 1

/**
 * The commit of units of which at least one changes other runs (creates them, or leaves messages for them), replies to an
 * update, exposes a value, writes a checkpoint, begins a generation, or asks again what an earlier generation has asked. Locks the rows
 * of the units and of the runs that get messages together, in the order of their keys: were the latter locked later, by
 * their update, two such commits could wait for one another.
 */
export function writeWideStatement(names: Names): Statement {
  const { runs, runInfo, runState, checkpoints, notices, events, messages, asks, news } = names
  const alreadySent = `(select from ${messages} m where m.run = t.run and m.key = s.key ${onePerRow})`
  return new Statement(`
    with clock as materialized (select ${storeTime} as now),
    s as materialized (
      select * from unnest(${numberParameters(firstOther, sendTypes)}) with ordinality
        as s(i, item, id, must, ${messageColumns.names}, k)),
    c as materialized (
      select * from unnest(${numberParameters(firstChild, childTypes)}) with ordinality
        as c(i, item, parent, parent_position, ${runColumns.names}, ${infoColumns.names}, k)),
    locked as materialized (
      select run, id, epoch, head, worker, mail, state, mark, wake_at from ${runs}
      where run = any($2::bigint[]) or id = any($${firstOther + 2}::text[]) order by run for no key update),
    fenced as materialized (
      select u.*, l.mail, ${judgement} as own, u.park and l.mail = u.seen as parks
      from ${writeRows(unitColumns.columns, 2, 'i')} as u
      left join locked l on l.run = u.run),
    refused as materialized (
      select distinct on (i) i, item, why from (
        select s.i, s.item, case when t.run is null then 'missing' when t.state <> 0 then 'ended'
            when ${isHeld} then 'held' else 'quarantined' end as why
        from s left join locked t on t.id = s.id
        where s.must and (t.run is null or t.state <> 0 or ${isQuarantinedCancel} or ${isHeld} or t.mail >= ${maxMail})
          and not exists ${alreadySent}
        union all
        select c.i, c.item, 'exists' from c
        where exists (select from ${runs} r where r.id = c.id ${onePerRow})
          or exists (select from c b where b.i = c.i and b.id = c.id and b.k < c.k)) as of_items
      order by i, item),
    judged as materialized (
      select f.*, case when f.own = 0 and x.i is not null then ${verdicts.indexOf('refused')} else f.own end as verdict, x.item, x.why
      from fenced f left join refused x on x.i = f.i),
    sent as materialized (
      select t.run, t.mail + (row_number() over (partition by t.run order by s.k))::int as n, ${messageColumns.of('s')}
      from s join judged j on j.i = s.i and j.verdict = 0
      join locked t on t.id = s.id and t.state = 0 and t.mail < ${maxMail}
      where not exists ${alreadySent}),
    -- A message with this key may have come since the statement began. Of a run whose counter is behind its messages
    -- none is stored: its owner will find the damage.
    delivered as (
      insert into ${messages} (run, at, n, ${messageColumns.names})
      select run, now, n, ${messageColumns.names} from sent cross join clock order by run, n
      on conflict do nothing returning run, n, kind),
    bumped as materialized (select run, max(n) as mail, bool_or(kind = ${cancel}) as cancels from delivered group by run),
    changed as materialized (
      select coalesce(j.run, b.run) as run, j.run is not null as is_unit, j.count, j.link, j.state, j.parks, j.wake_at,
        b.mail, coalesce(b.cancels, false) as cancels, now, ($${firstBase}::int[])[j.i::int] as base
      from (select * from judged where verdict = 0) j full join bumped b on b.run = j.run cross join clock),
    written as (
      update ${runs} r
      set head = r.head + coalesce(g.count, 0), base = coalesce(g.base, r.base), link = coalesce(g.link, r.link),
          tries = case when g.is_unit and (g.count > 0 or g.parks or g.state <> 0) then 0 else r.tries end,
          mark = case when g.is_unit then 0 else r.mark end,
          state = coalesce(g.state, r.state), mail = coalesce(g.mail, r.mail),
          cancel_at = case when g.cancels then coalesce(r.cancel_at, g.now) else r.cancel_at end,
          worker = case when g.parks or g.state <> 0 then null else r.worker end,
          wake_at = case when g.parks then g.wake_at
                         when g.state <> 0 then null
                         when not g.is_unit and r.worker is null and (r.mark = 0 or (g.cancels and r.mark <> ${quarantined})) then least(r.wake_at, g.now)
                         else r.wake_at end
      from changed g where r.run = g.run),
    inserted as (
      insert into ${events} (run, at, took_ms, seq, epoch, position, turn, nth, type, kind, failed, name, payload, link)
      select j.run, (select now from clock), e.took_ms, e.seq, j.epoch, e.position, e.turn, e.nth, e.type, e.kind, e.failed, e.name, e.payload, coalesce(e.link, '')
      from ${writeRows(eventColumns, firstEvent)} as e
      join judged j on j.i = e.i and j.verdict = 0),
    -- In the order of their ids: two commits with the same ids then wait for one another in one direction only. One that
    -- was created since the statement began fails it, and it is run again.
    made as (
      insert into ${runs} (worker, wake_at, created_at, epoch, head, ${runColumns.names})
      select null, now, now, 1, 1, ${runColumns.of('c')}
      from c join judged j on j.i = c.i and j.verdict = 0 cross join clock order by c.id
      returning run, id),
    described as (
      insert into ${runInfo} (run, procedure, parent, parent_position, ${infoColumns.names})
      select m.run, c.procedure, c.parent, c.parent_position, ${infoColumns.of('c')} from made m join c on c.id = m.id
      join judged j on j.i = c.i and j.verdict = 0),
    started as (
      insert into ${events} (run, at, took_ms, seq, epoch, position, turn, nth, type, kind, failed, name, payload, link)
      select m.run, now, e.took_ms, e.seq, 0, e.position, e.turn, e.nth, e.type, e.kind, e.failed, e.name, e.payload, coalesce(e.link, '')
      from ${writeRows(eventColumns, firstStarted)} as e
      join c on c.k = e.i join made m on m.id = c.id join judged j on j.i = c.i and j.verdict = 0 cross join clock),
    replied as (
      update ${messages} m set used = p.used, payload = p.payload
      from unnest(${numberParameters(firstReply, replyTypes)}) as p(i, n, payload, used)
      join judged j on j.i = p.i and j.verdict = 0
      where m.run = j.run and m.n = p.n),
    exposed as (
      insert into ${runState} (run, at, seq, name, payload)
      select j.run, now, j.head, p.name, p.payload
      from unnest(${numberParameters(firstState, stateTypes)}) as p(i, name, payload)
      join judged j on j.i = p.i and j.verdict = 0 cross join clock
      on conflict (run, name) do update set at = excluded.at, seq = excluded.seq, payload = excluded.payload),
    saved as (
      insert into ${checkpoints} (run, at, slot, position, name, payload)
      select j.run, now, p.slot, p.position, p.name, p.payload
      from unnest(${numberParameters(firstCheckpoint, checkpointTypes)}) with ordinality
        as p(i, slot, position, name, payload, k)
      join judged j on j.i = p.i and j.verdict = 0 cross join clock order by p.k
      on conflict (run, slot) do update set n = excluded.n, at = excluded.at, position = excluded.position,
        seq = excluded.seq, name = excluded.name, payload = excluded.payload),
    noticed as (
      insert into ${notices} (run, at, position, digest, seq, kind, severity, audience, payload)
      select j.run, now, p.position, p.digest, j.head, p.kind, p.severity, p.audience::text[], p.payload
      from unnest(${numberParameters(firstNotice, noticeTypes)}) with ordinality
        as p(i, position, digest, kind, severity, audience, payload, k)
      join judged j on j.i = p.i and j.verdict = 0 cross join clock order by p.k
      on conflict (run, position, digest) do nothing returning run, n, audience),
    addressed as (${writeNames(names, 'noticed')}),
    announced as (
      insert into ${news} (run, at, position, kind)
      select run, now, n::int, ${feedCode.numberOf.notice} from noticed cross join clock),
    -- What an earlier generation has asked is closed. An open one is damage, which the insert finds.
    replaced as (
      delete from ${asks} s
      using unnest(${numberParameters(firstReplaced, replacedTypes)}) as a(i, position, key) join judged j on j.i = a.i and j.verdict = 0
      where s.run = j.run and s.position = a.position and ${unindexed('s.status')} <> 0 returning 1),
    renamed as (
      update ${asks} s set key = null
      from unnest(${numberParameters(firstReplaced, replacedTypes)}) as a(i, position, key) join judged j on j.i = a.i and j.verdict = 0
      where s.run = j.run and s.key = a.key and s.position <> a.position and ${unindexed('s.status')} <> 0 returning 1)${writeEffects(names, gaveWay)}
    select i::int, verdict, mail, parks as parked, (select now from clock) as at, item, why, (select max(run) from made) as made
    from judged where i = 1 or verdict <> 0 or mail <> seen`)
}

export function bindWide(worker: number, units: readonly Unit[]): readonly Value[] {
  const wide = new WideEffects(units.length)
  for (const [index, { effects }] of units.entries())
    for (const [item, effect] of effects.entries()) wide.add({ i: index + 1, item }, effect)
  return [...bindFull(worker, units), ...wide.values()]
}
