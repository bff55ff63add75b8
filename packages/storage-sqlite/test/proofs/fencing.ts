import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { dumpFile } from '../support/dump.ts'
import type { Mutation } from '../support/mutants.ts'
import { startProgram } from '../support/programs.ts'
import { run } from '../support/runs.ts'
import { openStore, tempFile } from '../support/stores.ts'

export interface FencingReport {
  readonly stops: number
  readonly claims: number
  readonly events: number
  readonly acknowledged: number
  readonly refused: number
  /** Events that an older owner wrote behind what a newer one had loaded. */
  readonly stale: number
  /** Acknowledged events that are not there. */
  readonly lost: number
  /** Runs whose events are not numbered one by one. */
  readonly gaps: number
}

/** Three processes work on the same runs and are stopped, in turn, for longer than their lease. */
export async function proveFencing(stops: number, mutation: Mutation): Promise<FencingReport> {
  const file = tempFile()
  const store = await openStore(file)
  await store.runs.create(Array.from({ length: 60 }, (_, index) => run(`run ${index}`)))
  const journals = [1, 2, 3].map((number) => `${file}.${number}.journal`)
  const programs = await Promise.all(
    journals.map((journal) => startProgram('fenced-worker', [file, journal, mutation])),
  )
  await sleep(300)
  for (let stop = 0; stop < stops; stop++) {
    const program = programs[stop % programs.length]
    program?.signal('SIGSTOP')
    await sleep(330 + Math.random() * 150)
    program?.signal('SIGCONT')
    await sleep(Math.random() * 100)
  }
  for (const program of programs) program.finish()
  for (const program of programs) await program.end()
  return check(file, journals, stops)
}

function check(file: string, journals: readonly string[], stops: number): FencingReport {
  const { runs, events } = dumpFile(file)
  const lines = journals.flatMap((journal) =>
    readFileSync(journal, 'utf8')
      .split('\n')
      .map((line) => line.split(' ')),
  )
  const claims = lines.flatMap(([what, run, epoch, head]) =>
    what === 'claim' ? { run: Number(run), epoch: Number(epoch), head: Number(head) } : [],
  )
  const claimsOf = groupByRun<Claim>(claims)
  const acknowledged = lines.filter(([what]) => what === 'event')
  const names = new Map(events.map(({ run, seq, name }) => [`${run} ${seq}`, name]))
  const byRun = groupByRun(events)
  return {
    stops,
    claims: claims.length,
    events: events.length,
    acknowledged: acknowledged.length,
    refused: lines.filter(([what]) => what === 'refused').length,
    stale: [...byRun].reduce((count, [run, log]) => count + countStale(log, claimsOf.get(run) ?? []), 0),
    lost: acknowledged.filter(([, run, seq, name]) => names.get(`${run} ${seq}`) !== name).length,
    gaps: runs.filter(({ run, head }) => {
      const seqs = (byRun.get(run) ?? []).map(({ seq }) => seq)
      return seqs.length !== head || seqs.some((seq, index) => seq !== index)
    }).length,
  }
}

/** Events whose epoch is older than that of a claim which had not seen them. */
function countStale(
  log: readonly { readonly seq: number; readonly epoch: number }[],
  claims: readonly Claim[],
): number {
  const waiting = [...claims].sort((a, b) => a.head - b.head)
  let newest = 0
  let next = 0
  return log.filter(({ seq, epoch }) => {
    for (; (waiting[next]?.head ?? Number.POSITIVE_INFINITY) <= seq; next++) {
      newest = Math.max(newest, waiting[next]?.epoch ?? 0)
    }
    return epoch < newest
  }).length
}

interface Claim {
  readonly run: number
  readonly epoch: number
  readonly head: number
}

function groupByRun<Row extends { readonly run: number }>(rows: readonly Row[]): Map<number, Row[]> {
  const groups = new Map<number, Row[]>()
  for (const row of rows) {
    const group = groups.get(row.run)
    if (group) group.push(row)
    else groups.set(row.run, [row])
  }
  return groups
}
