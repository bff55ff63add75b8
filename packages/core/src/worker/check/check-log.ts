import type { AskSpec, ProcedureOperation } from '../../authoring/operations.ts'
import type { ProcedureDefinition } from '../../authoring/procedure.ts'
import { isEqual } from '../../base/equal.ts'
import { showValue } from '../../base/text.ts'
import { isBug } from '../../errors/bug.ts'
import { listIssues } from '../../errors/catalogue.ts'
import type { LogEvent } from '../../events/event.ts'
import { decode, encode } from '../../events/payload.ts'
import type { AskPayload } from '../../events/payloads.ts'
import { allowGrace } from '../../host/drain.ts'
import { validate } from '../../host/run-schema.ts'
import type { Decision } from '../../kernel/decision.ts'
import type { Execution } from '../../kernel/execution.ts'
import type { Branch } from '../../runs/run-check.ts'
import { Branches, type Marks, readMarks } from '../run/branches.ts'
import { createExecution, replayOnly } from '../run/create-execution.ts'
import { diagnoseBug, diagnoseDifference, diagnoseForeignAwait } from '../run/diagnose.ts'
import type { Replayed } from '../run/find-call-site.ts'
import { LogIndex } from '../run/log-index.ts'
import { ReadFailed } from '../run/log-reader.ts'
import {
  damagedBy,
  divergedBy,
  quarantinedFor,
  type Reason,
  stoppedBy,
  unfitInput,
  unreadFor,
} from '../run/park-with-error.ts'
import { deliverPage, type LogSource } from '../run/replay-log.ts'
import { readStart, type Start } from '../run/start.ts'
import type { ProgramServices } from '../services.ts'
import { CancelledEnd } from './cancelled-end.ts'

/** A log to be replayed with the code of a procedure. */
export interface CheckedLog {
  readonly id: string
  readonly definition: ProcedureDefinition
  readonly log: LogSource
}

/** What came of a replay. */
export interface LogVerdict {
  /** Whether the code matches the log; a reason if the run would be parked. */
  readonly verdict: 'same' | 'text-only' | Reason
  readonly versions: { readonly [change: string]: Branch }
}

/**
 * Replays a log to its end, and writes nothing. No step runs, and `ctx.log` is silent.
 * @throws the error of a store that does not answer
 */
export async function checkLog(services: ProgramServices, checked: CheckedLog): Promise<LogVerdict> {
  try {
    return (
      (await replayAndCompare(services, checked, undefined)) ??
      ((await replayAndCompare(services, checked, await readMarks(checked.log))) as LogVerdict)
    )
  } catch (error) {
    if (error instanceof ReadFailed) throw error.cause
    return { verdict: damagedBy(checked.id, error, 'its log'), versions: {} }
  }
}

interface Replay {
  readonly start: Start
  readonly branches: Branches
  readonly execution: Execution<ProcedureOperation>
}

/** Null: a mark came after its change, so that the log has to be replayed with all its marks. */
async function replayAndCompare(
  services: ProgramServices,
  { id, definition, log }: CheckedLog,
  marks: Marks | undefined,
): Promise<LogVerdict | null> {
  const index = new LogIndex()
  const end = new CancelledEnd()
  let replay: Replay | null = null
  let last: LogEvent | undefined
  for await (const page of log.pages()) {
    if (replay === null) {
      const [started, second] = page as readonly [LogEvent, LogEvent?]
      const start = await readStart(definition, started, second)
      if ('issues' in start) return { verdict: unfitInput(id, start), versions: {} }
      const branches = new Branches(marks)
      const execution = createExecution({ services, runId: id, start, branches, host: replayOnly })
      replay = { start, branches, execution }
    }
    if (!replay.branches.learn(page)) return null
    index.add(page)
    last = page.at(-1)
    await deliverPage(replay.execution, page, log, end.withoutIt(page))
  }
  if (replay === null) return { verdict: quarantinedFor(id, 'its log is empty'), versions: {} }
  const { start, branches, execution } = replay
  if (execution.needsGrace) await new Promise<void>((resolve) => allowGrace(resolve))
  const parksBugs = index.cancelled === null && (definition.bugs ?? services.bugs) === 'park'
  const run = { id, start, log, marks: branches.marks }
  const decision = execution.decide()
  const reason =
    (await diagnose(services, run, decision, parksBugs)) ??
    (decision.state === 'completed' ? await diagnoseOutput(run, decision.output, last) : null)
  const isSame = !index.openAsks.some((asked) => isReworded(execution, asked))
  return { verdict: reason ?? (isSame ? 'same' : 'text-only'), versions: branches.list() }
}

/** Returns why the run would be parked; null if it would not. */
async function diagnose(
  services: ProgramServices,
  run: Replayed,
  decision: Decision<ProcedureOperation>,
  parksBugs: boolean,
): Promise<Reason | null> {
  switch (decision.state) {
    case 'waiting':
    case 'completed':
      return null
    case 'failed':
      return parksBugs && isBug(decision.error)
        ? diagnoseBug(services, run, { error: decision.error, position: null })
        : null
    case 'nondeterminism':
      return diagnoseDifference(services, run, decision, parksBugs)
    case 'foreign-await':
      return diagnoseForeignAwait(services, run, decision)
    case 'unreadable':
      return unreadFor(run.id, `the result at position ${decision.position}`, decision.error)
    case 'damaged':
      return quarantinedFor(run.id, decision.what)
    case 'stopped':
      return stoppedBy(run.id, decision.error)
  }
}

/** Compares the output of a run that has completed with the recorded one. */
async function diagnoseOutput(
  { id, start }: Replayed,
  output: unknown,
  ended: LogEvent | undefined,
): Promise<Reason | null> {
  if (ended?.type !== 'ended' || ended.failed) return null
  const schema = start.definition.output
  const checked = schema === undefined ? { ok: true as const, value: output } : await validate(schema, output)
  const recorded = decode(ended.payload)
  // As it would be recorded, so that a member that is undefined is missing.
  if (checked.ok && isEqual(recorded, decode(encode(checked.value, 'output')))) return null
  const now = checked.ok ? showValue(checked.value) : `an invalid output: ${listIssues(checked)}`
  return divergedBy(id, {
    ...{ position: ended.position, at: '' },
    recorded: `its completion with ${showValue(recorded)}`,
    asked: `its completion with ${now}`,
  })
}

/** Whether the code would now ask an open question differently. */
function isReworded({ pending }: Execution<ProcedureOperation>, asked: LogEvent): boolean {
  const spec = askOf(pending.get(asked.position)?.operation)
  if (spec === undefined) return false
  return !isEqual(wordingOf(decode(asked.payload) as AskPayload), wordingOf(spec.payload))
}

function askOf(operation: ProcedureOperation | undefined): AskSpec | undefined {
  if (operation === undefined) return undefined
  if ('ask' in operation) return operation.ask
  return 'fallback' in operation && operation.fallback.do === 'ask' ? operation.fallback.ask : undefined
}

/** What the code says of an ask, without what the worker adds when it is asked. */
function wordingOf(ask: AskPayload): object {
  const { history: _, dueAt: __, judged: ___, to: ____, escalateTo: _____, silence, ...worded } = ask
  // A default is stored as the schema has made it.
  return { ...worded, silence: silence.do === 'default' ? silence.do : silence }
}
