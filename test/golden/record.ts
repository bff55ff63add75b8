// Leaves runs behind at every stage of their lives in a file, which later versions have to be able to go on
// with. Done once for each release: npm run golden:record. With the argument `ends`, `versions`, `together`, `consents`,
// `lives` or `forks` it records only the cases of that file; with `exports`, the name of a file in logs and the name of a folder, only exports.
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { createEngine } from '@pawl/core'
import type { Claimant, Claims, RunRow } from '@pawl/core/storage'
import { sqlite } from '@pawl/storage-sqlite'
import Database from 'better-sqlite3'
import { meddleWith } from '../support/meddling-store.ts'
import { answerAll, ignoreEnd, sendAll } from './answers.ts'
import { consentPolicy, makeConsentCases } from './consents.ts'
import { makeEndCases } from './ends.ts'
import { recordExports } from './exports.ts'
import { makeForkCases } from './forks.ts'
import { makeLifeCases } from './lives.ts'
import { type GoldenCase, makeCases, type NoteBody } from './procedures.ts'
import { ReadingCounter } from './readings.ts'
import { makeTogetherCases } from './together.ts'
import { makeVersionCases } from './versions.ts'

// Where it was recorded is nobody's business.
Error.stackTraceLimit = 0

const { version } = JSON.parse(
  readFileSync(new URL('../../packages/core/package.json', import.meta.url), 'utf8'),
)
const [, , only, source, folder] = process.argv
if (only === 'exports') {
  await recordExports(new URL(`./logs/${source}`, import.meta.url).pathname, String(folder))
  process.exit(0)
}
const readings = new ReadingCounter()
const groups = {
  ends: makeEndCases,
  versions: makeVersionCases,
  together: makeTogetherCases,
  lives: makeLifeCases,
  forks: makeForkCases,
  consents: (note: NoteBody) => makeConsentCases(note, readings.count),
}
if (only !== undefined && !(only in groups)) throw new Error(`there are no cases ${only}`)
const file = new URL(`./logs/${version}${only === undefined ? '' : `-${only}`}.db`, import.meta.url).pathname
const makers =
  only === undefined ? [makeCases, ...Object.values(groups)] : [groups[only as keyof typeof groups]]
const cases = makers.flatMap((make) => make(() => {}))
if (existsSync(file)) throw new Error(`${file} is there: what a released version wrote stays as it is`)
const draft = `${file}.draft`
for (const suffix of ['', '-wal', '-shm']) rmSync(draft + suffix, { force: true })

const mostCommits = 100
for (const goldenCase of cases)
  for (const commits of goldenCase.leftAfter ?? Array.from({ length: mostCommits }, (_, i) => i))
    if (await leaveBehind(goldenCase, commits)) break

const database = new Database(draft)
database.exec('vacuum')
database.close()
renameSync(draft, file)
console.log(`recorded ${file}`)
if (only === undefined) await recordExports(file, version)

/** The procedure of a case that only other runs start. */
function childOf({ procedure, leftAfter }: GoldenCase): readonly GoldenCase['procedure'][] {
  return leftAfter?.length === 0 ? [procedure] : []
}

/** Starts a run whose engine stops being heard of after so many commits. Returns whether the run had ended by then. */
async function leaveBehind(
  { procedure: current, before, input, onward }: GoldenCase,
  commits: number,
): Promise<boolean> {
  const procedure = before ?? current
  const id = `${procedure.name} after ${commits}`
  const { store, always } = meddleWith(sqlite(draft))
  let left = commits
  let onStuck: () => void
  const stuck = new Promise<false>((resolve) => {
    onStuck = () => resolve(false)
  })
  // It continues with its own run and its children, and with none that was left behind before.
  always('claims.claim', async (_, [claimant], port) => {
    const query = {
      ...{ procedure: null, statuses: [], tag: null, failedUndo: false, before: null },
      limit: 100,
    }
    const family = [
      await port.runs.find(id),
      await port.runs.find(`${id} fork`),
      ...(await port.runs.list({ ...query, parent: id })),
    ]
    const isDue = (row: RunRow | null): row is RunRow =>
      row !== null && row.state === 'live' && !row.owned && row.wakeAt !== null
    const due = family.filter(isDue)
    const runs = await port.claims.take(
      claimant as Claimant,
      due.map(({ run }) => run),
    )
    return { runs, at: Date.now(), nextDueAt: null, leavesSuspects: false } satisfies Claims
  })
  always('log.commit', (go) => {
    if (left-- > 0) return go()
    onStuck()
    return new Promise(() => {})
  })
  // A stuck run never ends.
  let onBroken: (error: Error) => void
  const broken = new Promise<never>((_, reject) => {
    onBroken = reject
  })
  const error = (message: string): void => {
    console.error(message)
    if (message.includes('is stuck')) onBroken(new Error(message))
  }
  const engine = await createEngine({
    store,
    procedures: [procedure, ...cases.flatMap(childOf)],
    policy: consentPolicy,
    logger: { ...console, error },
  })
  const run = await engine.run(procedure, input, { id })
  await sendAll(engine, procedure, id)
  answerAll(engine, id).catch(ignoreEnd)
  const ended = (onward?.(engine, id) ?? Promise.resolve()).catch(ignoreEnd).then(() =>
    run.result().then(
      () => true,
      () => true,
    ),
  )
  const hasEnded = await Promise.race([ended, stuck, broken])
  await engine.stop({ within: '0s' })
  return hasEnded
}
