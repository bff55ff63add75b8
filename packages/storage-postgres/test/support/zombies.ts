import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundle } from '../../../../test/support/bundle.ts'
import type { TestDatabase } from '../../../../test/support/postgres-database.ts'

interface Options {
  readonly database: TestDatabase
  /** Whether commits check epoch and worker. */
  readonly isGuarded: boolean
  /** Ends after so many stops. */
  readonly stops: number
  /** Ends as soon as something stale was found. */
  readonly untilStale?: boolean
}

export interface ZombieReport {
  readonly stops: number
  readonly claims: number
  readonly events: number
  /** Events that an owner wrote after another worker had taken the run over. */
  readonly stale: number
  /** Units that were acknowledged and are not there. */
  readonly lost: number
  /** Units that had been refused, sent once more, and written. */
  readonly resubmitted: number
  /** Runs whose head does not agree with their log. */
  readonly gaps: number
}

const runs = 120

/** Three workers on a database, each stopped again and again for longer than its lease, and continued. */
export async function letZombiesWork(options: Options): Promise<ZombieReport> {
  const { database, isGuarded, stops, untilStale = false } = options
  await prepare(database)
  const folder = mkdtempSync(join(tmpdir(), 'pawl-zombies-'))
  const program = await bundle(new URL('../programs/zombie.ts', import.meta.url).pathname)
  const files = [0, 1, 2].map((index) => join(folder, `${index}.log`))
  const workers = files.map((file) =>
    fork(program, [database.url, file, isGuarded ? 'guarded' : 'unguarded']),
  )
  const exits = workers.map((worker) => once(worker, 'exit'))
  let done = 0
  try {
    await Promise.all(workers.map((worker) => once(worker, 'message')))
    for (; done < stops; done++) {
      const worker = workers[done % workers.length]
      worker?.kill('SIGSTOP')
      await pause(330 + Math.random() * 150)
      worker?.kill('SIGCONT')
      await pause(Math.random() * 120)
      if (untilStale && (await count(database, staleEvents)) > 0) break
    }
  } finally {
    for (const worker of workers) if (worker.connected) worker.send('stop')
    await Promise.all(exits)
    rmSync(join(program, '..'), { recursive: true })
  }
  const codes = workers.map(({ exitCode }) => exitCode)
  if (codes.some((code) => code !== 0)) throw new Error(`workers ended with ${codes.join()}`)
  const report = {
    stops: done,
    claims: await count(database, 'select count(*) from pawl.claim_log'),
    events: await count(database, 'select count(*) from pawl.events'),
    stale: await count(database, staleEvents),
    lost: await countLost(database, files),
    resubmitted: await count(database, `select count(*) from pawl.events where name = 'STALE'`),
    gaps: await count(
      database,
      `select count(*) from pawl.runs r where head <> (select count(*) from pawl.events e where e.run = r.run)
         or head <> (select max(seq) + 1 from pawl.events e where e.run = r.run)`,
    ),
  }
  rmSync(folder, { recursive: true })
  return report
}

/** Behind the head that a later owner saw, under an older epoch. */
const staleEvents = `
  select count(distinct (e.run, e.seq)) from pawl.events e
  join pawl.claim_log c on c.run = e.run and c.epoch > e.epoch and e.seq >= c.head`

/** Runs to fight over, and a trigger that notes how long each log is whenever its epoch rises. */
async function prepare({ owner }: TestDatabase): Promise<void> {
  await owner.query(`
    create table if not exists pawl.claim_log (run bigint, epoch int, head bigint);
    grant insert on pawl.claim_log to pawl_app;
    create or replace function pawl.log_claim() returns trigger language plpgsql as $$
      begin
        insert into pawl.claim_log values (new.run, new.epoch, (select count(*) from pawl.events where run = new.run));
        return null;
      end $$;
    create or replace trigger log_claim after update of epoch on pawl.runs
      for each row when (old.epoch <> new.epoch) execute function pawl.log_claim();
    create or replace function pawl.dawdle() returns trigger language plpgsql as $$
      begin
        if random() < 0.02 then perform pg_sleep(random() * 0.01); end if;
        return new;
      end $$;
    create or replace trigger dawdle before insert on pawl.events for each row execute function pawl.dawdle();
    truncate pawl.claim_log, pawl.runs, pawl.run_info, pawl.events;
    insert into pawl.runs (run, wake_at, created_at, epoch, head, version, id, procedure, link)
      select nextval('pawl.runs_run_seq'), 1, 1, 1, 0, 1, 'zombie ' || i, 'order', '' from generate_series(1, ${runs}) i;
    insert into pawl.run_info (run, procedure, tags) select run, procedure, '{}' from pawl.runs`)
}

async function countLost({ owner }: TestDatabase, files: readonly string[]): Promise<number> {
  const { rows } = await owner.query<{ run: string; seq: number; epoch: number; name: string }>(
    'select run, seq, epoch, name from pawl.events',
  )
  const events = new Map(rows.map((row) => [`${row.run} ${row.seq}`, row]))
  const lines = files.flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== ''),
  )
  return lines.filter((line) => {
    const [run, head, epoch, length, name] = line.split(' ')
    return Array.from({ length: Number(length) }, (_, index) =>
      events.get(`${run} ${Number(head) + index}`),
    ).some((event) => event?.name !== name || event?.epoch !== Number(epoch))
  }).length
}

async function count({ owner }: TestDatabase, text: string): Promise<number> {
  const { rows } = await owner.query<{ count: string }>(text)
  return Number(rows[0]?.count)
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
