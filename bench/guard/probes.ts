import type { Engine, Store } from '@pawl/core'
import Database from 'better-sqlite3'
import { check } from '../base/check.ts'
import { deliver, executionOf, oneByOne } from '../kernel.bench.ts'
import { sequence, sumOf } from '../procedures.ts'
import { startEngine } from '../workloads/workload.ts'

/** Something whose processor time is watched. */
export interface Probe {
  readonly name: string
  /** Steps, rows or events in one round: what the time is divided by. */
  readonly count: number
  round(): Promise<void>
  close(): Promise<void>
}

/** One run of many steps, one after the other, each its own commit. */
export async function probeSequence(name: string, store: Store, count: number): Promise<Probe> {
  const engine = await startEngine({ store: () => store })
  return { name, count, round: () => runSequences(engine, 1, count), close: () => engine.stop() }
}

/** Many runs at once: many units in a commit. */
export async function probeMany(name: string, store: Store, runs: number, steps: number): Promise<Probe> {
  const engine = await startEngine({ store: () => store })
  return {
    name,
    count: runs * steps,
    round: () => runSequences(engine, runs, steps),
    close: () => engine.stop(),
  }
}

async function runSequences(engine: Engine, runs: number, steps: number): Promise<void> {
  const started = await Promise.all(Array.from({ length: runs }, () => engine.run(sequence, steps)))
  for (const run of started) check('the sum of all steps', await run.result(), sumOf(steps))
}

/** The kernel goes through a log that is in memory. */
export function probeReplay(name: string, count: number): Probe {
  const log = oneByOne.log(count)
  return {
    name,
    count,
    async round() {
      const execution = executionOf(oneByOne.program(count))
      await deliver(execution, log)
      check('replay', execution.decide().state, 'completed')
    },
    close: async () => {},
  }
}

/** Commits of one row, and nothing above them. */
export function probeRaw(name: string, file: string, count: number): Probe {
  const database = new Database(file)
  database.pragma('journal_mode = wal')
  database.pragma('synchronous = full')
  database.exec('create table e (run text, seq int, data blob, primary key (run, seq)) without rowid')
  const insert = database.prepare('insert into e values (?, ?, ?)')
  const payload = Buffer.from('{"n":1}')
  let seq = 0
  return {
    name,
    count,
    async round() {
      for (let i = 0; i < count; i++) insert.run('run', seq++, payload)
    },
    async close() {
      database.close()
    },
  }
}
