import {
  askStatusCode,
  eventTypeCode,
  markCode,
  messageKindCode,
  operationKindCode,
  type Store,
  stateCode,
} from '@pawl/core/storage'
import type {
  Damage,
  Dump,
  DumpedAsk,
  DumpedCheckpoint,
  DumpedMessage,
  DumpedRun,
  DumpedState,
  Place,
  StoreSubject,
} from '@pawl/testing/conformance'
import type pg from 'pg'
import { empty, type TestDatabase } from '../../../../test/support/postgres-database.ts'
import { types } from '../../src/connection/fast-path/values.ts'

/** A subject whose places are one database, emptied after each test: they follow one another. */
export function makeSubject(
  name: string,
  database: () => TestDatabase,
  store: () => Store,
  schema = 'pawl',
): StoreSubject {
  return {
    name,
    make(): Place {
      const { owner } = database()
      return {
        store: store(),
        dump: () => dump(owner, schema),
        damage: (run, how) => damage(owner, schema, run, how),
        remove: () => empty(owner, schema),
      }
    },
  }
}

const damages: { readonly [how in Damage]: string } = {
  'mail-behind': 'mail = 0',
  'mail-full': 'mail = 2147483647',
  'unknown-state': 'state = 99',
}

async function damage(owner: pg.Pool, schema: string, id: string, how: Damage): Promise<() => Promise<void>> {
  const { rows } = await owner.query<{ mail: number; state: number }>(
    `select mail, state from ${schema}.runs where id = $1`,
    [id],
  )
  const [row] = rows
  if (!row) throw new Error(`there is no run ${id}`)
  await owner.query(`update ${schema}.runs set ${damages[how]} where id = $1`, [id])
  return async () => {
    await owner.query(`update ${schema}.runs set mail = $2, state = $3 where id = $1`, [
      id,
      row.mail,
      row.state,
    ])
  }
}

/** Everything that is kept, read with statements of our own. */
async function dump(owner: pg.Pool, schema: string): Promise<Dump> {
  const read = async <Row>(text: string) =>
    (await owner.query({ text: text.replaceAll('$schema', schema), types } as pg.QueryConfig)).rows as Row[]
  const runs = await read<Coded<DumpedRun, 'state' | 'mark'>>(`
    select run, id, procedure, version, state, mark, worker, wake_at as "wakeAt", cancel_at as "cancelAt", epoch, head, base, mail, tries,
      case when tries > 1 then positives else 0 end as positives, case when tries > 1 then alone else 0 end as alone,
      worker is not null and tries > 1 and tested as tested, link, info
    from $schema.runs join $schema.run_info using (run, procedure) order by run`)
  const events = await read<Coded<Dump['events'][number], 'type'> & { kind: number | null }>(`
    select run, seq, at, epoch, type, position, turn, kind, name, nth, failed, took_ms as "tookMs", payload, nullif(link, '') as link
    from $schema.events order by run, seq`)
  // A key that begins with ~ was made by the store for a message without one.
  const messages = await read<Coded<DumpedMessage, 'kind'>>(`
    select run, n, kind, name, case when key not like '~%' then key end as key, sent_by as by, used, payload
    from $schema.messages order by run, n`)
  const asks = await read<Coded<DumpedAsk, 'status'>>(`
    select run, position, status, kind, key, answered_by as "answeredBy", payload, answer
    from $schema.asks order by run, position`)
  const states = await read<DumpedState>(
    'select run, name, payload from $schema.run_state order by run, name collate "C"',
  )
  const checkpoints = await read<DumpedCheckpoint>(
    'select run, slot, position, seq, name, payload from $schema.checkpoints order by run, slot',
  )
  return {
    states,
    checkpoints,
    runs: runs.map((row) => ({
      ...row,
      state: stateCode.wordOf(row.state),
      mark: markCode.wordOf(row.mark),
    })),
    events: events.map((row) => ({
      ...row,
      type: eventTypeCode.wordOf(row.type),
      kind: row.kind === null ? null : operationKindCode.wordOf(row.kind),
    })),
    messages: messages.map((row) => ({ ...row, kind: messageKindCode.wordOf(row.kind) })),
    asks: asks.map((row) => ({ ...row, status: askStatusCode.wordOf(row.status) })),
  }
}

/** As the columns have it: numbers for words. */
type Coded<Row, Column extends keyof Row> = {
  readonly [column in keyof Row]: column extends Column ? number : Row[column]
}
