import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { connectTo } from '@pawl/core/storage'
import { temporaryFolder } from '../bundle.ts'
import { connect, sqliteStore } from '../sqlite.ts'
import type { AskRow, EpochChange, EventRow, Place, Rows, RunRow } from './place.ts'

/** An empty file, in which every change of an epoch is written down. */
export async function makeSqlitePlace(): Promise<Place> {
  const location = join(await temporaryFolder(), 'siege.db')
  const port = connectTo(sqliteStore(location))
  await port?.open()
  await port?.close()
  const database = connect(location)
  database.exec(`
    create table epoch_changes (run integer, epoch integer, head integer);
    create trigger note_epoch after update of epoch on runs when new.epoch <> old.epoch
      begin insert into epoch_changes values (new.run, new.epoch, new.head); end`)
  database.close()
  return {
    location,
    readRows: async () => readRows(location),
    remove: () => rm(dirname(location), { recursive: true }),
  }
}

function readRows(file: string): Rows {
  const database = connect(file, { readonly: true })
  const read = <Row>(text: string) => database.prepare<[], Row>(text).all()
  try {
    const verdict = String(database.pragma('integrity_check', { simple: true }))
    return {
      runs: read<RunRow>('select run, id, state, mark, head from runs'),
      events: read<EventRow>(
        'select run, seq, at, epoch, type, position, kind, name, payload from events order by run, seq',
      ),
      asks: read<AskRow>('select run, position, status from asks'),
      changes: read<EpochChange>('select run, epoch, head from epoch_changes'),
      damage: verdict === 'ok' ? [] : [verdict],
    }
  } finally {
    database.close()
  }
}
