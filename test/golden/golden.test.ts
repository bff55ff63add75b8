import { copyFile, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { createClient, createEngine } from '@pawl/core'
import { sqlite } from '@pawl/storage-sqlite'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../support/bundle.ts'
import { answerAll, ignoreEnd, sendAll } from './answers.ts'
import { consentPolicy, makeConsentCases } from './consents.ts'
import { makeEndCases } from './ends.ts'
import { makeLifeCases } from './lives.ts'
import { makeCases } from './procedures.ts'
import { ReadingCounter } from './readings.ts'
import { makeTogetherCases } from './together.ts'
import { makeVersionCases } from './versions.ts'

const logs = new URL('./logs/', import.meta.url).pathname
const files = (await readdir(logs)).filter((name) => name.endsWith('.db'))

/** Procedures that throw, and agents that cannot decide. */
const expected = [
  'failed (NO_WAY in procedure "failing"',
  'in procedure "undoing"',
  'in procedure "failing child"',
  'in procedure "retried"',
  'Agent "judge" could not decide',
]

test('there are logs of a version', () => {
  expect(files).not.toEqual([])
})

describe.each(files)('runs that version %s left behind', (name) => {
  test('runs of earlier releases resume, complete and repeat no step', async () => {
    const folder = await temporaryFolder()
    const file = join(folder, name)
    await copyFile(join(logs, name), file)
    const runs = await readRuns(file)
    const done: string[] = []
    const note = (run: string, step: string) => void done.push(`${run}: ${step}`)
    const readings = new ReadingCounter(runs)
    const makers = [makeCases, makeEndCases, makeVersionCases, makeTogetherCases, makeLifeCases]
    const cases = [...makers.flatMap((make) => make(note)), ...makeConsentCases(note, readings.count)]
    const complaints: string[] = []
    const complain = (message: string): void => {
      if (!expected.some((part) => message.includes(part))) complaints.push(message)
    }
    const engine = await createEngine({
      store: sqlite(file),
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
    await rm(folder, { recursive: true })
    expect(complaints).toEqual([])
    expect(problems.filter((problem) => problem !== null)).toEqual([])
    const recorded = runs.flatMap(({ id, recorded }) => recorded.map((step) => `${id}: ${step}`))
    const least = name.includes('versions') ? 10 : /ends|together|lives/.test(name) ? 50 : 100
    expect(recorded.length).toBeGreaterThan(least)
    expect(done.filter((step) => recorded.includes(step))).toEqual([])
    expect(done.length).toBeGreaterThan(least)
  })
})

interface LeftRun {
  readonly id: string
  readonly procedure: string
  /** The steps whose results its log has. */
  readonly recorded: readonly string[]
}

async function readRuns(file: string): Promise<readonly LeftRun[]> {
  const client = createClient({ store: sqlite(file) })
  const { items, cursor } = await client.list({ limit: 500 })
  expect(cursor).toBeUndefined()
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
