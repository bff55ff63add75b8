import {
  askStatusCode,
  feedCode,
  hiddenState,
  hideId,
  type Installed,
  type KeptAsk,
  type LastPart,
  namesOf,
  stateCode,
  type WholeStore,
} from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'
import {
  listBigints,
  listBooleans,
  listBytes,
  listIntegers,
  listSmallints,
  listTexts,
} from '../connection/fast-path/lists.ts'
import { Statement } from '../connection/fast-path/statement.ts'
import { asBuffer, type Value } from '../connection/fast-path/values.ts'
import { codeOf } from '../faults.ts'
import { type Names, storeTime } from '../names.ts'
import { describeColumns, EventColumns, eventColumns, numberParameters, writeRows } from './columns.ts'
import { bindNotices, writeNames } from './notices.ts'
import { infoColumns, keptAskColumns, keptMessageColumns } from './rows.ts'

export type Install = WholeStore['copies']['install']

export function prepareInstall(database: Database): Install {
  const { begin, add, finish, find } = writeStatements(database.names)
  const runs = async (statement: Statement, values: readonly Value[]) =>
    (await database.run<{ run: number; at: number }>(statement, values))[0]

  async function finishCopy(id: string, hidden: string, last: LastPart): Promise<Installed> {
    const values = bindLast(id, hidden, last)
    return database.repeat(async (isRepeated) => {
      try {
        const row = await runs(finish, values)
        if (row) return { outcome: 'installed', ...row }
      } catch (error) {
        if (codeOf(error) !== '23505') throw error
        return { outcome: 'exists' }
      }
      // The id is given up by the attempt whose reply was lost, or the copy was cleared.
      const known = isRepeated ? await runs(find, [id, asBuffer(last.link)]) : undefined
      return known ? { outcome: 'installed', ...known } : { outcome: 'lost' }
    })
  }

  return async (copy, seq, events, last) => {
    const hidden = hideId(copy.token)
    if (seq === 0) await database.repeat(() => runs(begin, [hidden, copy.procedure, copy.version]))
    const columns = new EventColumns()
    for (const event of events) columns.add(1, event.seq, event, event.link)
    const values = [
      ...[hidden, seq + events.length, events.at(-1)?.epoch ?? 0],
      ...columns.values(),
      listBigints(events.map(({ at }) => at)),
      listIntegers(events.map(({ epoch }) => epoch)),
    ]
    const added = await database.repeat(() => runs(add, values))
    if (!added) return { outcome: 'lost' }
    database.plans.noteRun(added.run)
    return last === null ? { outcome: 'installed', ...added } : finishCopy(copy.id, hidden, last)
  }
}

const nameTypes = 'int[], int2[], bigint[], bigint[], bigint[], text[], bool[]'
const firstInfo = 16
const firstMessage = firstInfo + infoColumns.count
const firstAsk = firstMessage + keptMessageColumns.count
const firstName = firstAsk + keptAskColumns.count
const firstCheckpoint = firstName + nameTypes.split(', ').length
const firstNotice = firstCheckpoint + 6
const noticeTypes = 'int[], int[], int2[], int2[], text[], bytea[], int[], bigint[]'
const checkpointTypes = 'bigint[], int[], int[], int[], text[], bytea[]'

function bindLast(id: string, hidden: string, last: LastPart): readonly Value[] {
  const { state, base, link, createdAt, endedAt, cancelAt, parent, info } = last
  const { messages, asks, states } = last
  return [
    ...[hidden, id, stateCode.numberOf[state], asBuffer(link), createdAt, cancelAt, messages.at(-1)?.n ?? 0],
    ...[endedAt, parent?.run ?? null, parent?.position ?? null],
    ...[info && asBuffer(info), base],
    ...[listTexts(states.map(({ name }) => name)), listBigints(states.map(({ at }) => at))],
    listBytes(states.map(({ payload }) => payload)),
    ...infoColumns.one(last),
    ...keptMessageColumns.lists(messages),
    ...keptAskColumns.lists(asks),
    ...bindNames(asks.filter(({ status }) => status === 'open')),
    listBigints(last.checkpoints.map(({ at }) => at)),
    listIntegers(last.checkpoints.map(({ slot }) => slot)),
    listIntegers(last.checkpoints.map(({ position }) => position)),
    listIntegers(last.checkpoints.map(({ seq }) => seq)),
    listTexts(last.checkpoints.map(({ name }) => name)),
    listBytes(last.checkpoints.map(({ payload }) => payload)),
    ...bindNotices(last.notices),
    listIntegers(last.notices.map(({ seq }) => seq)),
    listBigints(last.notices.map(({ at }) => at)),
  ]
}

/** The names by which the open asks are found. */
function bindNames(open: readonly KeptAsk[]): readonly Value[] {
  const rows = open.flatMap((ask) => namesOf(ask).map((name) => ({ ask, ...name })))
  return [
    listIntegers(rows.map(({ ask }) => ask.position)),
    listSmallints(rows.map(({ ask }) => ask.urgency)),
    listBigints(rows.map(({ ask }) => ask.dueAt)),
    listBigints(rows.map(({ ask }) => ask.openedAt)),
    listBigints(rows.map(({ ask }) => ask.closesAt)),
    listTexts(rows.map(({ name }) => name)),
    listBooleans(rows.map(({ late }) => late)),
  ]
}

function writeStatements(names: Names): Record<'begin' | 'add' | 'finish' | 'find', Statement> {
  const { runs, runInfo, runState, events, messages, asks, askTo, checkpoints, notices, news } = names
  const { live } = stateCode.numberOf
  return {
    begin: new Statement(`
      insert into ${runs} (id, procedure, version, state, created_at, epoch, head, link)
      values ($1, $2, $3::int, ${hiddenState}, ${storeTime}, 1, 0, '') on conflict (id) do nothing`),
    add: new Statement(`
      with target as (
        update ${runs} set head = $2, epoch = greatest(epoch, $3) where id = $1 and state = ${hiddenState}
        returning run, ${storeTime} as now),
      inserted as (
        insert into ${events} (run, at, took_ms, seq, epoch, position, turn, nth, type, kind, failed, name, payload, link)
        select t.run, e.at, e.took_ms, e.seq, e.epoch, e.position, e.turn, e.nth, e.type, e.kind, e.failed, e.name, e.payload, coalesce(e.link, '')
        from ${writeRows([...eventColumns, ...describeColumns('at bigint, epoch int')], 4)} as e cross join target t
        -- From an attempt whose reply was lost.
        on conflict (run, seq) do nothing)
      select run, now as at from target`),
    finish: new Statement(`
      with clock as materialized (select ${storeTime} as now),
      shown as (
        update ${runs} set id = $2, state = $3::int2, base = $12::int, link = $4, created_at = coalesce($5::bigint, now), cancel_at = $6::bigint,
          mail = $7::int, wake_at = case when $3::int2 = ${live} then now end
        from clock where id = $1 and state = ${hiddenState} returning run, procedure, now),
      described as (
        insert into ${runInfo} (run, procedure, ended_at, parent, parent_position, info, ${infoColumns.names})
        select run, procedure, $8::bigint, $9, $10::int, $11::bytea, ${infoColumns.numbered(firstInfo)} from shown),
      exposed as (
        insert into ${runState} (run, name, at, payload)
        select s.run, e.* from shown s cross join unnest($13::text[], $14::bigint[], $15::bytea[]) as e),
      sent as (
        insert into ${messages} (run, ${keptMessageColumns.names})
        select s.run, ${keptMessageColumns.of('m')}
        from shown s cross join unnest(${numberParameters(firstMessage, keptMessageColumns.types)})
          as m(${keptMessageColumns.names})),
      asked as (
        insert into ${asks} (run, ${keptAskColumns.names})
        select s.run, ${keptAskColumns.of('a')}
        from shown s cross join unnest(${numberParameters(firstAsk, keptAskColumns.types)}) as a(${keptAskColumns.names})
        returning run, position, status),
      listed as (
        insert into ${askTo} (run, due, opened_at, closes_at, position, urgency, late, name)
        select s.run, coalesce(n.due_at, 9007199254740991), n.opened_at, n.closes_at, n.position, n.urgency, n.late, n.name
        from shown s cross join unnest(${numberParameters(firstName, nameTypes)})
          as n(position, urgency, due_at, opened_at, closes_at, name, late)),
      saved as (
        insert into ${checkpoints} (run, at, slot, position, seq, name, payload)
        select s.run, c.at, c.slot, c.position, c.seq, c.name, c.payload
        from shown s cross join unnest(${numberParameters(firstCheckpoint, checkpointTypes)}) with ordinality
          as c(at, slot, position, seq, name, payload, k) order by c.k),
      noticed as (
        insert into ${notices} (run, position, digest, kind, severity, audience, payload, seq, at)
        select s.run, c.position, c.digest, c.kind, c.severity, c.audience::text[], c.payload, c.seq, c.at
        from shown s cross join unnest(${numberParameters(firstNotice, noticeTypes)}) with ordinality
          as c(position, digest, kind, severity, audience, payload, seq, at, k) order by c.k
        returning n, audience),
      addressed as (${writeNames(names, 'noticed')}),
      told as (
        insert into ${news} (run, at, position, kind)
        select run, now, position, ${feedCode.numberOf['ask-opened']} from asked cross join clock
        where status = ${askStatusCode.numberOf.open})
      select run, now as at from shown`),
    find: new Statement(
      `select run, ${storeTime} as at from ${runs} where id = $1 and link = $2 for no key update`,
    ),
  }
}
