import type {
  Answer,
  Ask,
  Checkpoint,
  ExecutionLog,
  Notice,
  RepeatPreview,
  RunFacts,
  RunValues,
  RunView,
} from '@pawl/core'
import { omitUndefined } from '../base/omit-undefined.ts'
import { type Json, writePayload } from './payload.ts'
import type {
  AskBriefJson,
  AskJson,
  CheckpointJson,
  LogEntryJson,
  NoticeJson,
  PreviewJson,
  RunFactsJson,
  RunJson,
  RunValuesJson,
  StateJson,
} from './shapes.ts'

export function showRun(view: RunView): RunJson {
  return omitUndefined({
    ...view,
    startedAt: view.startedAt.toISOString(),
    endedAt: view.endedAt?.toISOString(),
    cancelRequestedAt: view.cancelRequestedAt?.toISOString(),
    waitingFor: view.waitingFor.map((one) => omitUndefined({ ...one, until: one.until?.toISOString() })),
    failure: view.failure && omitUndefined({ ...view.failure }),
    progress: view.progress && omitUndefined({ ...view.progress }),
    parent: view.parent && omitUndefined({ ...view.parent }),
    stuck: view.stuck && omitUndefined({ ...view.stuck, triedAt: view.stuck.triedAt?.toISOString() }),
  }) as RunJson
}

/** Shows the values of a run. */
export function showValues({ input, output, exposed, omitted }: RunValues): RunValuesJson {
  return omitUndefined({
    ...{ input: optional(input), output: optional(output), omitted: [...omitted] },
    exposed: exposed.map(showState),
  }) as RunValuesJson
}

/** Shows what stands around a run. */
export function showFacts({ owner, ...facts }: RunFacts): RunFactsJson {
  const shown = owner && {
    worker: owner.worker,
    seenAt: owner.seenAt.toISOString(),
    leaseEndsAt: owner.leaseEndsAt.toISOString(),
  }
  return omitUndefined({ ...facts, owner: shown }) as RunFactsJson
}

/** Shows what a fork or a retry does again. */
export function showPreview(preview: RepeatPreview): PreviewJson {
  return omitUndefined({ ...preview }) as PreviewJson
}

export function showCheckpoint({ id, run, position, name, createdAt, state }: Checkpoint): CheckpointJson {
  return omitUndefined({
    ...{ id, run, position, name, createdAt: createdAt.toISOString() },
    state: state === undefined ? undefined : writePayload(state),
  })
}

export function showNotice({ details, links, at, ...notice }: Notice): NoticeJson {
  return omitUndefined({
    ...notice,
    to: [...notice.to],
    details: details.map(({ title, body, as }) =>
      omitUndefined({ title, body: body === undefined ? undefined : writePayload(body), as }),
    ),
    links: [...links],
    at: at.toISOString(),
  })
}

/** Shows a value that a run exposes. */
export function showState({
  name,
  at,
  value,
}: {
  readonly name: string
  readonly at: Date
  readonly value: unknown
}): StateJson {
  return { name, at: at.toISOString(), ...(value === undefined ? {} : { value: writePayload(value) }) }
}

/** Without artifact, history and other large parts. */
export function showBrief(ask: Ask): AskBriefJson {
  const {
    id,
    run,
    procedure,
    position,
    key,
    kind,
    status,
    message,
    severity,
    to,
    onTimeout,
    overdue,
    require,
  } = ask
  return omitUndefined({
    ...{ id, run, procedure, position, key, kind, status, message, severity, to, onTimeout, overdue },
    require,
    choices: ask.choices.map(omitUndefined),
    decisions: ask.decisions.map(omitUndefined),
    risk: ask.risk && omitUndefined({ ...ask.risk }),
    askedAt: ask.askedAt.toISOString(),
    dueAt: ask.dueAt?.toISOString(),
    startedBy: ask.startedBy,
    answer: ask.answer && showAnswer(ask.answer),
  }) as AskBriefJson
}

export function showAsk(ask: Ask): AskJson {
  const { digest, editable, schema, as, alternatives, links } = ask
  return omitUndefined({
    ...showBrief(ask),
    ...{ digest, editable, schema, as, links },
    params: optional(ask.params),
    artifact: optional(ask.artifact),
    baseline: optional(ask.baseline),
    initial: optional(ask.initial),
    error: ask.error && omitUndefined({ ...ask.error }),
    alternatives: alternatives.map(omitUndefined),
    details: ask.details.map((one) => omitUndefined({ ...one, body: writePayload(one.body) })),
    history: ask.history.map((one) => ({ ...one, result: writePayload(one.result) })),
  }) as AskJson
}

function showAnswer({ by, at, via, madeBy, actedBy, comment, ...rest }: NonNullable<Ask['answer']>): object {
  return omitUndefined({ by, at: at.toISOString(), via, madeBy, actedBy, comment, ...showParts(rest) })
}

/** The parts of an answer, each payload written as one. */
function showParts(answer: Answer | Omit<Answer, 'comment'>): { readonly [part: string]: Json } {
  return Object.fromEntries(
    Object.entries(answer).flatMap(([part, value]) =>
      value === undefined && part !== 'value' ? [] : [[part, writePayload(value)]],
    ),
  )
}

export function showEntry(entry: ExecutionLog['execution_log'][number]): LogEntryJson {
  const { attempts, ...rest } = entry
  return {
    ...rest,
    result: writePayload(entry.result),
    ...(attempts === undefined ? {} : { attempts: [...attempts] }),
  }
}

function optional(value: unknown): Json | undefined {
  return value === undefined ? undefined : writePayload(value)
}
