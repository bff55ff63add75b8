import type pg from 'pg'
import { makeDatabase, type TestDatabase } from '../postgres-database.ts'
import type { AskRow, EpochChange, EventRow, Place, RunRow } from './place.ts'

export interface PostgresPlace extends Place {
  readonly database: TestDatabase
}

/**
 * A new database, in which every change of an epoch is written down. Workers have the least rights that will do.
 * @param server another server than the tests'
 */
export async function makePostgresPlace(server?: string): Promise<PostgresPlace> {
  const database = await makeDatabase({ prepare: noteEpochs, ...(server === undefined ? {} : { server }) })
  const read = async <Row>(text: string) => (await database.owner.query(text)).rows as Row[]
  return {
    database,
    location: database.url,
    // The keys of a test fit into an int, and the driver gives a bigint as text.
    readRows: async () => ({
      runs: await read<RunRow>('select run::int, id, state, mark, head from pawl.runs'),
      events: await read<EventRow>(
        'select run::int, seq, at::float8, epoch, type, position, kind, name, payload from pawl.events order by run, seq',
      ),
      asks: await read<AskRow>('select run::int, position, status from pawl.asks'),
      changes: await read<EpochChange>('select run::int, epoch, head from pawl.epoch_changes'),
      damage: [],
    }),
    remove: () => database.remove(),
  }
}

async function noteEpochs(owner: pg.Pool): Promise<void> {
  await owner.query(`
    create table pawl.epoch_changes (run bigint, epoch int, head int);
    create function pawl.note_epoch() returns trigger language plpgsql security definer as $$
      begin
        insert into pawl.epoch_changes values (new.run, new.epoch, new.head);
        return null;
      end $$;
    create trigger note_epoch after update of epoch on pawl.runs
      for each row when (new.epoch <> old.epoch) execute function pawl.note_epoch()`)
}
