import { refuseSignal } from '../../authoring/children/context.ts'
import type { ProcedureDefinition } from '../../authoring/procedure.ts'
import { readSignalArgs } from '../../authoring/signal/arguments.ts'
import { implement } from '../../base/implement.ts'
import { topics } from '../../base/notifier.ts'
import { whenKnown } from '../../base/when-known.ts'
import { checkBoolean, checkName } from '../../checks/options.ts'
import { milliseconds, optional, readOptions, type Spec } from '../../checks/spec.ts'
import { type FailureRecord, failureOf, reviveFailure } from '../../errors/failure.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import { isUnread, LogDamaged } from '../../events/codec.ts'
import type { LogEvent } from '../../events/event.ts'
import { decode } from '../../events/payload.ts'
import { guardVerbs } from '../../host/guard/verbs.ts'
import { validate } from '../../host/run-schema.ts'
import { type KnownRun, readRun, understand } from '../../ports/rows.ts'
import { hasRunUndos } from '../../runs/cut.ts'
import type { Connection } from '../connection.ts'
import { damagedError } from '../damaged.ts'
import { findRow, findRun } from '../find-run.ts'
import { readLastEvent } from '../log/pages.ts'
import type { Mailer } from '../mailer.ts'
import { observeCall } from '../observed.ts'
import type { ResultOptions, RunHandle, StatusOptions } from '../types.ts'
import { explainUnread, hasOutrun } from '../unread.ts'
import { readViews } from '../views/read.ts'
import { infoOf, showUnread } from '../views/run.ts'
import type { RunView, RunWithFacts, RunWithValues } from '../views/views.ts'
import { cancelRun } from './cancel.ts'
import { readFacts } from './facts.ts'
import { readState } from './state.ts'
import { sendUpdate } from './update.ts'
import { readValues } from './values.ts'

/** Creates a handle on one run, without resources. Without a definition, only the worker validates its signals. */
export function createRunHandle(
  connection: Connection,
  mailer: Mailer,
  id: string,
  definition: ProcedureDefinition | undefined,
): RunHandle<unknown> {
  const handle = implement<RunHandle<unknown>>({
    id,
    result: (options?: unknown) => waitForResult(connection, id, options),
    status: async (options?: unknown) => readStatus(connection, id, options),
    cancel: async (reason?: unknown, given?: unknown) => cancelRun(connection, id, reason, given),
    state: async (name: unknown, options?: unknown) => readState(connection, id, definition, name, options),
    update: async (name: unknown, input?: unknown, options?: unknown) =>
      sendUpdate(connection, mailer, { run: id, definition }, name, input, options),
    signal: (name: unknown, ...rest: readonly unknown[]) =>
      observeCall(
        connection,
        { verb: 'signal', run: id, procedure: definition?.name, by: undefined },
        () => sendSignal(mailer, id, definition, name, rest),
        () => ({}),
      ),
  })
  return guardVerbs('run', handle)
}

const statusOptions = {
  values: optional(checkBoolean, false),
  facts: optional(checkBoolean, false),
} satisfies Spec<StatusOptions>

/** What `status` returns, by its options. */
type Status = RunView & Partial<RunWithValues> & Partial<RunWithFacts>

/** Returns the state of a run, with what is asked for beside it. Verifies the end of the log first if the run has ended. */
async function readStatus(connection: Connection, id: string, given: unknown): Promise<Status> {
  const { values: hasValues, facts: hasFacts } = readOptions('of status', given, statusOptions)
  const row = await findRow(connection, id)
  try {
    const known = row.state === 'live' && !hasValues && !hasFacts ? undefined : readRun(row)
    const ended = known === undefined || row.state === 'live' ? undefined : await readEnd(connection, known)
    const [view] = (await readViews(connection, [row], ended)) as readonly [RunView]
    if (known === undefined) return view
    return {
      ...view,
      ...(hasValues ? { values: await readValues(connection, known, ended) } : {}),
      ...(hasFacts ? { facts: await readFacts(connection, known) } : {}),
    }
  } catch (error) {
    if (!isUnread(error)) throw error
    if (await hasOutrun(await connection.store(), row, error)) return readStatus(connection, id, given)
    return {
      ...showUnread(connection, row, error),
      ...(hasValues ? { values: undefined } : {}),
      ...(hasFacts ? { facts: undefined } : {}),
    }
  }
}

const resultOptions = { timeout: optional(milliseconds, null) } satisfies Spec<ResultOptions>

async function waitForResult(connection: Connection, id: string, given: unknown): Promise<unknown> {
  const { timeout } = readOptions('of result', given, resultOptions)
  const ended = await connection.wait(topics.end(id), () => lookForEnd(connection, id), timeout, 'by-writes')
  return ended.output
}

/** The output of a completed run. */
interface Outcome {
  readonly output: unknown
}

/** Returns undefined while the run is live; otherwise returns its output or throws its error. */
async function lookForEnd(connection: Connection, id: string): Promise<Outcome | undefined> {
  const known = connection.localWorker?.outputOf(id)
  if (known !== undefined) return { output: decode(known.output) }
  if (connection.localWorker?.holds(id)) return undefined
  const row = await findRun(connection, id)
  try {
    return await readOutcome(connection, row)
  } catch (error) {
    if (await hasOutrun(await connection.store(), row, error)) return lookForEnd(connection, id)
    throw explainUnread(id, `Run ${id}`, error)
  }
}

/** Returns undefined while the run is live. @throws the run's error; PayloadCorrupt, RowCorrupt, WrittenLater, LogDamaged */
async function readOutcome(connection: Connection, row: KnownRun): Promise<Outcome | undefined> {
  const { id } = row
  if (isMarkedAndParked(row)) throw understand(() => markError(row))
  switch (row.state) {
    case 'live':
      return undefined
    case 'completed': {
      const { payload } = await readEnd(connection, row)
      return { output: understand(() => decode(payload)) }
    }
    case 'failed': {
      const { payload } = await readEnd(connection, row)
      throw understand(() => failedError(row, decode(payload) as FailureRecord))
    }
    case 'cancelled':
      await readEnd(connection, row)
      throw new PawlError('run-cancelled', { run: id, reason: infoOf(row).cancelled?.reason })
  }
}

/** Returns the event that ended the run, verified with its whole block. @throws LogDamaged, WrittenLater */
async function readEnd(connection: Connection, row: KnownRun): Promise<LogEvent> {
  const ended = await readLastEvent(await connection.store(), connection.sha256, row)
  const { state } = row
  const isEnd = ended.type === 'ended' && ended.failed === (state !== 'completed')
  if (!isEnd) throw new LogDamaged(`it is ${state}, but the last event of its log is not the matching end`)
  return ended
}

function failedError(row: KnownRun, failure: FailureRecord): PawlError<'run-failed'> {
  const isRolledBack = hasRunUndos(infoOf(row).rollback)
  const details = {
    run: row.id,
    cause: failureOf(failure),
    ...(isRolledBack ? { rolledBack: true as const } : {}),
  }
  return new PawlError('run-failed', details, { cause: reviveFailure(failure) })
}

/** Returns whether a run is marked and parked. A marked run that is owned or due is being retried. */
function isMarkedAndParked({ state, mark, owned, wakeAt }: KnownRun): boolean {
  return state === 'live' && mark !== 'none' && !owned && wakeAt === null
}

function markError({ id, mark, reason }: KnownRun): Error {
  if (reason !== null) return reviveFailure(decode(reason) as FailureRecord)
  return new PawlError('run-quarantined', { run: id, reason: `it is ${mark}` })
}

/** Sends a signal. `rest` is `[payload, options]`, or `[options]` for a signal without a payload. */
async function sendSignal(
  mailer: Mailer,
  run: string,
  definition: ProcedureDefinition | undefined,
  given: unknown,
  rest: readonly unknown[],
): Promise<void> {
  const name = checkName('name of signal', given)
  const schema = definition?.signals.get(name)
  if (definition !== undefined && schema === undefined)
    refuseSignal(name, definition.name, [...definition.signals.keys()])
  const sent = await whenKnown(readSignalArgs(schema, rest, validate), ({ key, by, payload }) =>
    mailer.send({ run, kind: 'signal', name, key, by, payload }, definition === undefined),
  )
  if (sent.outcome === 'undeclared') refuseSignal(name, sent.procedure, sent.signals)
  if (sent.outcome === 'missing') throw new PawlError('run-not-found', { run })
  if (sent.outcome === 'ended') throw new PawlError('run-ended', { run, status: sent.state })
  if (sent.outcome === 'damaged') throw damagedError(run, sent)
}
