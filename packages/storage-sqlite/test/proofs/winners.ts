import type { NewAsk } from '@pawl/core/storage'
import type { Mutation } from '../support/mutants.ts'
import { startProgram } from '../support/programs.ts'
import { ownedRun, step } from '../support/runs.ts'
import { openStore, tempFile } from '../support/stores.ts'

export interface WinnerReport {
  readonly asks: number
  readonly answers: number
  readonly winners: number
  /** Asks whose losers were not all told the one who won. */
  readonly misreported: number
}

/** Four processes answer the same ask 250 times each, at the same moment. */
export async function proveOneWinner(asks: number, mutation: Mutation): Promise<WinnerReport> {
  const file = tempFile()
  const store = await openStore(file)
  const standing = await ownedRun(store, 'a')
  const effects = Array.from({ length: asks }, (_, position) => {
    return { do: 'open-ask', ask: newAsk(position) } as const
  })
  await store.log.commit(standing.worker, [{ ...step(standing), effects }])
  const programs = await Promise.all(
    Array.from({ length: 4 }, () => startProgram('answering', [file, 250, mutation])),
  )
  for (const program of programs) await program.line()
  let winners = 0
  let misreported = 0
  for (let position = 0; position < asks; position++) {
    for (const program of programs) program.tell(String(position))
    const reports = []
    for (const program of programs) reports.push(JSON.parse((await program.line()) ?? '') as Report)
    const won = reports.flatMap((report) => report.winners)
    winners += won.length
    const { answeredBy } = (await store.asks.find('a', position)) ?? {}
    const reported = new Set(reports.flatMap((report) => report.reported))
    if (won.length === 1 && (won[0] !== answeredBy || reported.size !== 1 || !reported.has(won[0] ?? '')))
      misreported++
  }
  for (const program of programs) program.finish()
  return { asks, answers: asks * 1000, winners, misreported }
}

interface Report {
  readonly winners: readonly string[]
  readonly reported: readonly string[]
}

function newAsk(position: number): NewAsk {
  const payload = new Uint8Array(1)
  const unaddressed = { to: [], escalateTo: [], dueAt: null, closesAt: null, answered: null }
  return { position, kind: 'approve', key: null, urgency: 1, payload, ...unaddressed }
}
