import {
  askStatusCode,
  eventTypeCode,
  markCode,
  messageKindCode,
  operationKindCode,
  stateCode,
} from '@pawl/core/storage'
import type {
  Dump,
  DumpedAsk,
  DumpedCheckpoint,
  DumpedMessage,
  DumpedRun,
  DumpedState,
} from '@pawl/testing/conformance'
import { connect, transact } from '../../../../test/support/sqlite.ts'
import type { Database } from '../../src/connection/database.ts'

/** What a row has before its numbers are turned into words. */
type Stored<Row, Coded extends keyof Row> = Omit<Row, Coded> & { readonly [column in Coded]: number }
type Event = Dump['events'][number]

/** Everything in a file, read on a connection of its own. */
export function dumpFile(file: string): Dump {
  const database = connect(file, { readonly: true })
  try {
    return transact(database, () => readAll(database))
  } finally {
    database.close()
  }
}

function readAll(database: Database): Dump {
  const runs = database
    .prepare<[], Stored<DumpedRun, 'state' | 'mark' | 'tested'>>(
      `select run, id, procedure, version, state, mark, worker, wake_at as wakeAt, cancel_at as cancelAt, epoch, head, base, mail, tries,
         iif(tries > 1, positives, 0) as positives, iif(tries > 1, alone, 0) as alone,
         worker is not null and tries > 1 and tested as tested, link, info
       from runs join run_info using (run) order by run`,
    )
    .all()
  const events = database
    .prepare<[], Stored<Event, 'type' | 'kind' | 'failed'>>(
      `select run, seq, at, epoch, type, position, turn, kind, nth, failed, took_ms as tookMs, name, payload, link
       from events order by run, seq`,
    )
    .all()
  const messages = database
    .prepare<[], Stored<DumpedMessage, 'kind' | 'used'>>(
      'select run, n, kind, name, key, sent_by as "by", used, payload from messages order by run, n',
    )
    .all()
  const asks = database
    .prepare<[], Stored<DumpedAsk, 'status'>>(
      `select run, position, status, kind, key, answered_by as answeredBy, payload, answer
       from asks order by run, position`,
    )
    .all()
  const states = database
    .prepare<[], DumpedState>('select run, name, payload from run_state order by run, name')
    .all()
  const checkpoints = database
    .prepare<[], DumpedCheckpoint>(
      'select run, slot, position, seq, name, payload from checkpoints order by run, slot',
    )
    .all()
  return {
    states,
    checkpoints,
    runs: runs.map((row) => ({
      ...row,
      state: stateCode.wordOf(row.state),
      mark: markCode.wordOf(row.mark),
      tested: row.tested === 1,
    })),
    events: events.map((row) => ({
      ...row,
      type: eventTypeCode.wordOf(row.type),
      kind: row.kind === null ? null : operationKindCode.wordOf(row.kind),
      failed: row.failed === 1,
    })),
    messages: messages.map((row) => ({
      ...row,
      kind: messageKindCode.wordOf(row.kind),
      used: row.used === 1,
    })),
    asks: asks.map((row) => ({ ...row, status: askStatusCode.wordOf(row.status) })),
  }
}
