import { dumpFile } from '../support/dump.ts'
import type { Mutation } from '../support/mutants.ts'
import { startProgram } from '../support/programs.ts'
import { run } from '../support/runs.ts'
import { openStore, tempFile } from '../support/stores.ts'

export interface WakeUpReport {
  readonly messages: number
  /** How often a message came between reading the mail and parking. */
  readonly races: number
  /** Messages of runs that have no owner and are not due. */
  readonly stranded: number
  readonly unread: number
}

/** Two processes send to runs, two messages each, that a third one parks; without hints and without sweeps. */
export async function proveWakeUps(messages: number, mutation: Mutation): Promise<WakeUpReport> {
  const file = tempFile()
  const store = await openStore(file)
  const runs = messages / 2
  for (let first = 0; first < runs; first += 1000) {
    const ids = Array.from({ length: Math.min(1000, runs - first) }, (_, index) => `run ${first + index}`)
    await store.runs.create(ids.map((id) => run(id)))
  }
  const owner = await startProgram('parking', [file, mutation])
  const senders = await Promise.all(
    [0, runs / 2].map((first) => startProgram('mailing', [file, first, runs / 2])),
  )
  for (const sender of senders) if ((await sender.end()) !== 0) throw new Error('a sender failed')
  owner.finish()
  const races = Number(await owner.line())
  if ((await owner.end()) !== 0) throw new Error('the owner failed')
  const dump = dumpFile(file)
  const unread = dump.messages.filter(({ used }) => !used)
  const asleep = new Set(
    dump.runs.filter(({ worker, wakeAt }) => worker === null && wakeAt === null).map((row) => row.run),
  )
  return {
    messages: dump.messages.length,
    races,
    stranded: unread.filter((message) => asleep.has(message.run)).length,
    unread: unread.length,
  }
}
