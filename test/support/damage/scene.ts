import { createEngine, type Engine, PawlError } from '@pawl/core'
import { keepLines, type Line } from '../../semantics/support.ts'
import { type Change, changesOf } from './changes.ts'
import { type DamagedPlace, eventColumns, type StoredRow } from './place.ts'
import { type Case, makeCases } from './procedures.ts'

/** One run, and what was changed in its log. */
export interface DamagedRun {
  readonly id: string
  readonly of: Case
  readonly change: Change
}

/** Which changes are made; by default all. `index` counts those of a procedure. */
export type Choice = (of: string, row: StoredRow, index: number) => boolean

export interface SceneReport {
  readonly damaged: number
  /** Whatever is not as it should be, in words. */
  readonly problems: readonly string[]
}

/** Lets runs wait, or end; changes one column of one event of each; and lets one new engine go on with all of them. */
export async function damageLogs(place: DamagedPlace, choose: Choice): Promise<SceneReport> {
  const entered = new Set<string>()
  const cases = makeCases((run) => entered.add(run))
  const before = await startEngine(place, cases)
  const runs = (await Promise.all(cases.map((one) => startRuns(place, before.engine, one, choose)))).flat()
  await before.engine.stop()
  entered.clear()
  for (const run of runs) await damage(place, run)

  const after = await startEngine(place, cases)
  const { engine, lines } = after
  const controls = new Map(
    await Promise.all(cases.map(async (one) => [one, await finish(engine, one, controlOf(one))] as const)),
  )
  const problems = await Promise.all(
    runs.map(async (run) => {
      const outcome = await finish(engine, run.of, run.id)
      const faults = [
        ...assess(run, outcome, controls.get(run.of)),
        ...(await checkViews(engine, run, outcome)),
      ]
      if (outcome === quarantined && entered.has(run.id) && run.of.procedure.name !== 'long')
        faults.push('its code was run')
      return faults.map((fault) => `${run.id}: ${fault}`)
    }),
  )
  await engine.stop()
  const marks = await place.readMarks()
  const marked = runs
    .filter(({ id, of }) => of.hasEnded && marks.has(id))
    .map(({ id }) => `${id}: a client marked it`)
  return { damaged: runs.length, problems: [...problems.flat(), ...marked, ...warningsIn(lines)] }
}

/** With the run's own row in mind: what makes a difference in one log need make none in another. */
async function damage(place: DamagedPlace, { id, change: { seq, column, nth } }: DamagedRun): Promise<void> {
  const row = (await place.readEvents(id)).find((event) => Number(event.seq) === seq) as StoredRow
  const change = changesOf(row, column, place)[nth] as Change
  await place.writeEvent(id, seq, column, change.value)
}

const controlOf = ({ procedure }: Case): string => `${procedure.name} control`

async function startEngine(
  place: DamagedPlace,
  cases: readonly Case[],
): Promise<{ readonly engine: Engine; readonly lines: readonly Line[] }> {
  const { logger, lines } = keepLines()
  const procedures = cases.map(({ procedure }) => procedure)
  return { engine: await createEngine({ store: place.makeStore(), procedures, logger }), lines }
}

/** One for each change of a log like theirs, and a control, each as far as it goes by itself. */
async function startRuns(
  place: DamagedPlace,
  engine: Engine,
  of: Case,
  choose: Choice,
): Promise<readonly DamagedRun[]> {
  await of.start(engine, controlOf(of))
  await comesToRest(engine, of, controlOf(of))
  const { name } = of.procedure
  const changes = (await place.readEvents(controlOf(of)))
    .flatMap((row) =>
      eventColumns.flatMap((column) => changesOf(row, column, place).map((change) => ({ row, change }))),
    )
    .filter(({ row }, index) => choose(name, row, index))
  const runs = changes.map(({ change }, index) => ({
    id: `${name} ${index}: ${describe(change)}`,
    of,
    change,
  }))
  await Promise.all(
    runs.map(async ({ id }) => {
      await of.start(engine, id)
      await comesToRest(engine, of, id)
    }),
  )
  return runs
}

async function comesToRest(engine: Engine, { hasEnded }: Case, id: string): Promise<void> {
  const run = engine.get(id)
  if (hasEnded) return void (await run.result().catch(() => {}))
  while ((await run.status()).status !== 'waiting' || (await run.status()).waitingFor[0]?.name !== 'go')
    await new Promise((resolve) => setTimeout(resolve, 20))
}

const quarantined = Symbol('quarantined')

/** What it returns, or with what it fails; `quarantined` if it is. */
async function finish(engine: Engine, { hasEnded }: Case, id: string): Promise<unknown> {
  const run = engine.get(id)
  try {
    if (!hasEnded) await run.signal('go', 'now')
    return await run.result({ timeout: '5m' })
  } catch (error) {
    if (PawlError.is(error, 'run-quarantined')) return quarantined
    return PawlError.is(error, 'run-failed') ? error.details.cause : error
  }
}

/** Of an ended run the last block is verified before its result is told, and the seal before that block. */
function isVerified({ of: { hasEnded, lastBlock = 0 }, change: { seq, column } }: DamagedRun): boolean {
  if (!hasEnded || seq >= lastBlock) return true
  return seq === lastBlock - 1 && ['link', 'seq', 'run'].includes(column)
}

function assess(run: DamagedRun, outcome: unknown, control: unknown): readonly string[] {
  const expected = isVerified(run) ? run.change.expected : 'unchanged'
  if (outcome === quarantined) return expected === 'unchanged' ? ['it was quarantined'] : []
  if (outcome instanceof Error) return [`it ended with ${outcome.message}`]
  if (JSON.stringify(outcome) !== JSON.stringify(control)) return [`it returned ${JSON.stringify(outcome)}`]
  return expected === 'quarantined' ? ['the damage was not seen'] : []
}

/** What is shown of a quarantined run: that it is, and nothing of what it holds. A log is shown only if it is whole. */
async function checkViews(
  engine: Engine,
  { id, change }: DamagedRun,
  outcome: unknown,
): Promise<readonly string[]> {
  const faults: string[] = []
  const log = await engine.log(id).catch((error: unknown) => error)
  const isShown = !(log instanceof Error)
  if (!isShown && !PawlError.is(log, 'run-quarantined')) faults.push(`its log ended with ${log.message}`)
  if (isShown && change.expected === 'quarantined') faults.push('its log was shown')
  if (!isShown && change.expected === 'unchanged') faults.push('its log was not shown')
  if (outcome !== quarantined) return faults
  const { status, failure, waitingFor, leftOver } = await engine.get(id).status()
  if (status !== 'quarantined' || failure?.code !== 'run-quarantined') faults.push(`its status is ${status}`)
  if (waitingFor.length + leftOver.signals.length + leftOver.operations.length > 0)
    faults.push('its status shows what it holds')
  return faults
}

/** One line for a run that is put aside, or shown as it is; all others are faults of the engine. */
function warningsIn(lines: readonly Line[]): readonly string[] {
  const allowed = [/^Run ".*" is quarantined /, /^Run ".*" cannot be read and is shown as quarantined: /]
  return lines
    .filter(({ level, message }) => level !== 'info' && !allowed.some((pattern) => pattern.test(message)))
    .map(({ level, message }) => `${level}: ${message}`)
}

function describe({ seq, column, value }: Change): string {
  const shown = value instanceof Uint8Array ? Buffer.from(value).toString('hex').slice(-20) : String(value)
  return `event ${seq}, ${column} ${shown}`
}
