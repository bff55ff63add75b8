import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { connect } from '../../../../test/support/sqlite.ts'
import { DiskFile } from '../support/disk.ts'
import { startProgram } from '../support/programs.ts'
import { openStore, tempFile } from '../support/stores.ts'
import { memoryDirectory } from '../support/subject.ts'
import { compileTraceVfs, parseTrace, type TraceRecord } from '../support/trace.ts'

export interface PowerLossReport {
  /** With it the same states come again, if the trace is the same. */
  readonly seed: number
  /** Disks as they may be found after the power went, each opened and read. */
  readonly states: number
  readonly acknowledged: number
  /** States in which something acknowledged is missing. */
  readonly lost: number
  /** States that SQLite cannot read, or finds damaged. */
  readonly corrupt: number
  /** States in which a log has a gap, or does not match its run. */
  readonly broken: number
}

/**
 * The store commits while every write and every sync to its files is written down; then the disk is made up as
 * it may be if the power goes at any point: everything synced is there, and of the rest any part in any order.
 */
export async function provePowerLoss(
  states: number,
  synchronous: 'full' | 'normal' | 'off',
  seed = Math.floor(Math.random() * 2 ** 31),
): Promise<PowerLossReport> {
  const file = tempFile()
  await (await openStore(file)).close()
  const base = readFileSync(file)
  const journal = `${file}.trace`
  const vfs = compileTraceVfs(dirname(file))
  // The whole trace has its share of each state.
  const commits = Math.min(400, Math.max(40, states / 10))
  process.env['PAWL_TRACE'] = journal
  const program = await startProgram('powered', [file, vfs, journal, commits, synchronous])
  if ((await program.end()) !== 'SIGKILL') throw new Error('the program failed')
  const records = parseTrace(readFileSync(journal))
  const place = tempFile(memoryDirectory)
  return { seed, ...assess(file, place, base, records, states, makeRandom(seed)) }
}

function assess(
  file: string,
  place: string,
  base: Buffer,
  records: readonly TraceRecord[],
  states: number,
  random: () => number,
): Omit<PowerLossReport, 'seed'> {
  const files = new Map([
    [file, new DiskFile(base)],
    [`${file}-wal`, new DiskFile(Buffer.alloc(0))],
  ])
  const heads = new Map<number, number>()
  const report = { states: 0, acknowledged: 0, lost: 0, corrupt: 0, broken: 0 }
  for (const [index, record] of records.entries()) {
    play(record, files, heads)
    if (record.kind === 'acknowledged') report.acknowledged++
    // Just after a promise and at random; spread over the whole trace.
    const due = Math.floor(((index + 1) * states) / records.length) - report.states
    for (let state = 0; state < due; state++) {
      report.states++
      const found = read(place, file, files, random)
      if (found === 'corrupt') report.corrupt++
      else if (found === 'broken') report.broken++
      else if ([...heads].some(([run, head]) => (found.get(run) ?? 0) < head)) report.lost++
    }
  }
  return report
}

function play(record: TraceRecord, files: ReadonlyMap<string, DiskFile>, heads: Map<number, number>): void {
  if (record.kind === 'acknowledged') {
    const [run = 0, head = 0, count = 0] = record.text.split(' ').map(Number)
    heads.set(run, head + count)
    return
  }
  const disk = files.get(record.file)
  if (!disk) throw new Error(`${record.file} is unknown`)
  if (record.kind === 'sync') disk.sync()
  else disk.change(record)
}

/** Opens what the disk has now, as the next start would, and reads how long each log is. */
function read(
  place: string,
  file: string,
  files: ReadonlyMap<string, DiskFile>,
  random: () => number,
): Map<number, number> | 'corrupt' | 'broken' {
  const directory = join(dirname(place), 'state')
  mkdirSync(directory)
  const copy = join(directory, 'pawl.db')
  try {
    for (const [name, disk] of files) writeFileSync(name.replace(file, copy), disk.loseThePower(random))
    const database = connect(copy)
    try {
      if (database.pragma('integrity_check', { simple: true }) !== 'ok') return 'corrupt'
      const rows = database
        .prepare<[], { run: number; head: number; events: number; last: number }>(
          `select run, head, (select count(*) from events where events.run = runs.run) as events,
             (select max(seq) from events where events.run = runs.run) as last from runs`,
        )
        .all()
      if (rows.some(({ head, events, last }) => head !== events || last !== events - 1)) return 'broken'
      return new Map(rows.map(({ run, head }) => [run, head]))
    } catch {
      return 'corrupt'
    } finally {
      database.close()
    }
  } finally {
    rmSync(directory, { recursive: true })
  }
}

/** Good enough, and the same for a seed: mulberry32. */
function makeRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
