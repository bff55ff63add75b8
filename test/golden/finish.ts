import { isDeepStrictEqual } from 'node:util'
import { createClient, createEngine, type Store } from '@pawl/core'
import { answerAll, ignoreEnd, sendAll } from './answers.ts'
import { consentPolicy, makeConsentCases } from './consents.ts'
import { makeEndCases } from './ends.ts'
import { makeForkCases } from './forks.ts'
import { makeLifeCases } from './lives.ts'
import { makeCases } from './procedures.ts'
import { ReadingCounter } from './readings.ts'
import { makeTogetherCases } from './together.ts'
import { makeVersionCases } from './versions.ts'

/** Procedures that throw, and agents that cannot decide. */
const expected = [
  // Two of the programs leave a question open.
  'was open, so no answer to it counts',
  'failed (NO_WAY in procedure "failing"',
  'in procedure "undoing"',
  'in procedure "failing child"',
  'in procedure "retried"',
  'Agent "judge" could not decide',
]

export interface Finished {
  /** Lines of the log that a run was not expected to leave. */
  readonly complaints: readonly string[]
  /** Runs with another end than that of their procedure. */
  readonly problems: readonly unknown[]
  /** The steps whose results the logs had before, and those that were called. */
  readonly recorded: readonly string[]
  readonly done: readonly string[]
}

/** Executes the runs that a golden file has, up to their ends. `open`: a store with these runs. */
export async function finishRuns(open: () => Store): Promise<Finished> {
  const runs = await readRuns(open())
  const done: string[] = []
  const note = (run: string, step: string) => void done.push(`${run}: ${step}`)
  const readings = new ReadingCounter(runs)
  const makers = [makeCases, makeEndCases, makeVersionCases, makeTogetherCases, makeLifeCases, makeForkCases]
  const cases = [...makers.flatMap((make) => make(note)), ...makeConsentCases(note, readings.count)]
  const complaints: string[] = []
  // A notice is logged at the level of its severity.
  const complain = (message: string, fields: object = {}): void => {
    if ('severity' in fields) return
    if (!expected.some((part) => message.includes(part))) complaints.push(message)
  }
  const engine = await createEngine({
    store: open(),
    procedures: cases.map(({ procedure }) => procedure),
    policy: consentPolicy,
    logger: { debug: () => {}, info: () => {}, warn: complain, error: complain },
  })
  const problems = await Promise.all(
    runs.map(async ({ id, procedure }) => {
      const found = cases.find((one) => one.procedure.name === procedure) as (typeof cases)[number]
      const { output, onward, afterwards } = found
      await sendAll(engine, { name: procedure }, id)
      answerAll(engine, id).catch(ignoreEnd)
      await onward?.(engine, id)
      const result = await engine
        .get(id)
        .result()
        .catch((error: unknown) => error)
      const wrong = (await afterwards?.(engine, id)) ?? []
      return wrong.length > 0 ? wrong : describeDifference(id, result, output)
    }),
  )
  await engine.stop()
  const recorded = runs.flatMap(({ id, recorded: steps }) => steps.map((step) => `${id}: ${step}`))
  return { complaints, problems: problems.filter((problem) => problem !== null), recorded, done }
}

interface LeftRun {
  readonly id: string
  readonly procedure: string
  /** The steps whose results its log has. */
  readonly recorded: readonly string[]
}

async function readRuns(store: Store): Promise<readonly LeftRun[]> {
  const client = createClient({ store })
  const { items, cursor } = await client.list({ limit: 500 })
  if (cursor !== undefined) throw new Error('there are more runs than one page has')
  const runs: LeftRun[] = []
  for (const { id, procedure } of items) {
    const { execution_log } = await client.log(id)
    const recorded = execution_log.flatMap(({ type, status, name }) => {
      if (status === 'open' || status === 'withdrawn') return []
      return type === 'step' ? [name] : type === 'undo' ? [`undo ${name}`] : []
    })
    runs.push({ id, procedure, recorded })
  }
  await client.stop()
  return runs
}

/** Null if there is none. */
function describeDifference(id: string, result: unknown, output: unknown): unknown {
  if (output instanceof Error) {
    const message = result instanceof Error ? result.message : 'it did not fail'
    return message.includes(output.message) ? null : { id, message }
  }
  return isDeepStrictEqual(result, output) ? null : { id, result, output }
}
