import { setTimeout as sleep } from 'node:timers/promises'
import { dumpFile } from '../support/dump.ts'
import type { Mutation } from '../support/mutants.ts'
import { startProgram } from '../support/programs.ts'
import { tempFile } from '../support/stores.ts'

export interface KillReport {
  readonly kills: number
  readonly acknowledged: number
  /** Units that are there though their acknowledgement was never heard: killed in between. */
  readonly unacknowledged: number
  /** Acknowledged units that are not there. */
  readonly lost: number
  /** Units of which some events are there and some are not. */
  readonly torn: number
  /** Units that are there more than once. */
  readonly repeated: number
  /** Runs whose head, seqs and events do not match. */
  readonly gaps: number
}

/** A process that does nothing but commit is killed again and again at random moments. */
export async function proveKills(
  kills: number,
  mutation: Mutation,
  acknowledge: 'late' | 'early',
): Promise<KillReport> {
  const file = tempFile()
  const acknowledged: string[] = []
  for (let kill = 0; kill < kills; kill++) {
    const program = await startProgram('committing', [file, mutation, acknowledge])
    const first = await program.line()
    if (first !== undefined) acknowledged.push(first)
    await sleep(Math.random() * 30)
    program.signal('SIGKILL')
    acknowledged.push(...(await program.rest()))
    if ((await program.end()) !== 'SIGKILL') throw new Error('the program ended by itself')
  }
  return check(file, acknowledged, kills)
}

function check(file: string, acknowledged: readonly string[], kills: number): KillReport {
  const { runs, events } = dumpFile(file)
  const units = new Map<string, number[]>()
  for (const { run, seq, name, type } of events) {
    if (type === 'started') continue
    const key = `${run} ${name}`
    const seqs = units.get(key)
    if (seqs) seqs.push(seq)
    else units.set(key, [seq])
  }
  const found = new Set([...units].map(([key, seqs]) => `${key.replace(' ', ` ${seqs[0]} `)}`))
  const counts = new Map<number, number>()
  for (const { run } of events) counts.set(run, (counts.get(run) ?? 0) + 1)
  return {
    kills,
    acknowledged: acknowledged.length,
    unacknowledged: units.size - new Set(acknowledged).size,
    lost: acknowledged.filter((line) => !found.has(line)).length,
    torn: [...units.values()].filter((seqs) => seqs.length < 7).length,
    repeated: [...units.values()].filter((seqs) => seqs.length > 7).length,
    gaps: runs.filter(({ run, head }) => counts.get(run) !== head || (head - 1) % 7 !== 0).length,
  }
}
