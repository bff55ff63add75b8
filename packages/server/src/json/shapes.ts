import {
  askKinds,
  askStatuses,
  commentRules,
  entryStatuses,
  formats,
  noticeKinds,
  riskLevels,
  runStatuses,
  runVerbs,
  severities,
  waitingKinds,
} from '@pawl/core/internal'
import { z } from 'zod'
import { roles } from '../auth/roles.ts'

// The bodies of replies. What core adds later is added here; clients ignore unknown fields.

const instant = z.string().meta({ description: 'ISO 8601, UTC', format: 'date-time' })
const payload = z.unknown().meta({ description: 'JSON; other types as {"$pawl": type, "value": …}' })

const failure = z
  .object({
    name: z.string(),
    message: z.string(),
    code: z.string().optional(),
    stack: z.string().optional(),
  })
  .meta({ id: 'Failure' })

/** The input, exposed values and output of a run. */
export const valuesShape = z
  .object({
    input: payload.optional(),
    output: payload.optional().meta({ description: 'Of a completed run' }),
    exposed: z.array(z.object({ name: z.string(), at: instant, value: payload.optional() })),
    omitted: z.array(z.string()).meta({
      description: 'What is left out, since it has more than 64 KiB: input, output, exposed.<name>',
    }),
  })
  .meta({ id: 'RunValues' })
/** The input, exposed values and output of a run in replies of the HTTP API. */
export type RunValuesJson = z.infer<typeof valuesShape>

const possibility = z
  .object({
    ok: z.boolean(),
    why: z.string().optional().meta({ description: 'Why it cannot be done; left out if it can' }),
  })
  .meta({ id: 'Possibility' })

/** What stands around a run. Counts stop at 1,000. */
export const factsShape = z
  .object({
    owner: z
      .object({
        worker: z.string(),
        seenAt: instant.meta({ description: 'When it last renewed its lease' }),
        leaseEndsAt: instant,
      })
      .optional()
      .meta({ description: 'The worker that has the run in memory, or had it when it died' }),
    entries: z.number().int().meta({ description: 'The number of operations of the present generation' }),
    openAsks: z.object({ count: z.number().int(), capped: z.boolean() }),
    children: z.object({ byStatus: z.record(z.enum(runStatuses), z.number().int()), capped: z.boolean() }),
    usage: z
      .object({
        calls: z.number().int(),
        inputTokens: z.number(),
        outputTokens: z.number(),
        costUsd: z.number(),
        capped: z.boolean(),
      })
      .meta({ description: 'What agents have reported in the newest 1,000 events of the log' }),
    can: z
      .record(z.enum(runVerbs), possibility)
      .meta({ description: 'What the caller can do with the run now' }),
  })
  .meta({ id: 'RunFacts' })
/** What stands around a run, as the HTTP API replies with it. */
export type RunFactsJson = z.infer<typeof factsShape>

export const runShape = z
  .object({
    id: z.string(),
    procedure: z.string(),
    version: z.number(),
    status: z.enum(runStatuses),
    generation: z.number().int(),
    forkedFrom: z.object({ run: z.string(), position: z.number().int() }).optional(),
    startedAt: instant,
    endedAt: instant.optional(),
    waitingFor: z.array(
      z.object({
        kind: z.enum(waitingKinds),
        name: z.string(),
        position: z.number(),
        ask: z.string().optional(),
        until: instant.optional(),
      }),
    ),
    failure: failure.optional(),
    stuck: z
      .object({
        code: z.string(),
        position: z.number().optional(),
        recorded: z.string().optional().meta({ description: 'The operation in the log' }),
        asked: z.string().optional().meta({ description: 'The operation that the code asks for' }),
        at: z.string().optional().meta({ description: 'file:line:column' }),
        triedAt: instant.optional(),
      })
      .optional(),
    tags: z.array(z.string()),
    startedBy: z.string().optional(),
    progress: z
      .object({ done: z.number(), total: z.number().optional(), message: z.string().optional() })
      .optional()
      .meta({ description: 'How far the run is, as it says itself' }),
    parent: z
      .object({ run: z.string(), position: z.number().optional() })
      .optional()
      .meta({ description: 'The run that created it, and the position of its operation' }),
    rollback: z
      .object({
        reason: z.string(),
        undone: z.array(z.string()),
        failed: z.array(z.object({ name: z.string(), failure })),
        skipped: z.string().optional().meta({ description: 'Which undos did not run, and why' }),
      })
      .optional(),
    cancelRequestedAt: instant.optional(),
    cancelReason: z.string().optional(),
    cancelledBy: z.string().optional().meta({ description: 'Who requested the cancel' }),
    retriedBy: z.string().optional().meta({ description: 'Who began the present generation with a retry' }),
    leftOver: z.object({
      signals: z.array(z.string()),
      operations: z.array(z.object({ position: z.number(), name: z.string() })),
    }),
    values: valuesShape.optional().meta({ description: 'Only of one run, with the parameter `values`' }),
    facts: factsShape.optional().meta({ description: 'Only of one run, with the parameter `facts`' }),
  })
  .meta({ id: 'Run' })
/** A run, as the HTTP API replies with it. Fields without a value are left out; instants are ISO 8601. */
export type RunJson = z.infer<typeof runShape>

/** The parts of a run that a fork or a retry keeps, and those it repeats. */
export const previewShape = z
  .object({
    position: z.number().int().optional().meta({ description: 'The first position that is not kept' }),
    kept: z.number().int().meta({ description: 'The number of results that are kept' }),
    operations: z
      .array(
        z.object({
          position: z.number().int(),
          type: z.string(),
          name: z.string(),
          does: z.enum(['effect', 'ask', 'wait']),
          becomes: z.enum(['edited', 'repeated', 'depends']),
        }),
      )
      .meta({ description: 'What is edited or not kept. depends: the code decides' }),
    more: z.number().int().meta({ description: 'The number of further operations' }),
    undone: z.array(z.string()).meta({ description: 'Undos whose steps are kept as if they were done' }),
    children: z.array(z.string()).meta({ description: 'Runs that continue with a retry' }),
  })
  .meta({ id: 'RepeatPreview' })
/** The parts of a run that a fork or a retry keeps and repeats, in replies of the HTTP API. */
export type PreviewJson = z.infer<typeof previewShape>

/** A value that a run exposes. */
export const stateShape = z
  .object({ name: z.string(), at: instant, value: payload.optional() })
  .meta({ id: 'State' })
export type StateJson = z.infer<typeof stateShape>

/** A saved point of a run. Lists have no `state`. */
export const checkpointShape = z
  .object({
    id: z.string(),
    run: z.string(),
    position: z.number(),
    name: z.string().optional(),
    createdAt: instant,
    state: payload.optional(),
  })
  .meta({ id: 'Checkpoint' })
/** A checkpoint, as the HTTP API replies with it. Lists leave `state` out. */
export type CheckpointJson = z.infer<typeof checkpointShape>

/** Something that people are told. */
export const noticeShape = z
  .object({
    id: z.string(),
    run: z.string(),
    procedure: z.string(),
    position: z.number().optional().meta({ description: 'Left out if the engine tells it' }),
    kind: z.enum(noticeKinds),
    severity: z.enum(severities),
    message: z.string(),
    to: z.array(z.string()).meta({ description: 'Empty: everyone' }),
    startedBy: z.string().optional(),
    details: z.array(z.object({ title: z.string(), body: payload.optional(), as: z.string().optional() })),
    links: z.array(z.object({ label: z.string(), url: z.string() })),
    at: instant,
    isRead: z.boolean().meta({ description: 'Whether the caller has read it' }),
  })
  .meta({ id: 'Notice' })
/** A notice, as the HTTP API replies with it. */
export type NoticeJson = z.infer<typeof noticeShape>

const choice = z.object({
  value: z.string(),
  label: z.string(),
  effect: z.string().optional(),
  style: z.enum(['primary', 'danger']).optional(),
})

const decision = z
  .object({
    value: z.string(),
    label: z.string(),
    effect: z.string().optional(),
    style: z.enum(['primary', 'danger', 'plain']),
    confirm: z.enum(['none', 'second', 'word']),
    comment: z
      .literal('required')
      .optional()
      .meta({ description: 'An answer with this decision is refused without a comment' }),
  })
  .meta({
    description: 'A way to answer, and what it has to be confirmed by: a second act, or typing its value',
  })

const risk = z.object({
  level: z.enum(riskLevels),
  reasons: z.array(z.string()).optional(),
  reversible: z.boolean().optional(),
  impact: z
    .object({
      amount: z.number().optional(),
      currency: z.string().optional(),
      downtime: z.string().optional(),
      affects: z.string().optional(),
    })
    .optional(),
})

/** The fields of an ask in lists. */
const briefFields = {
  id: z.string(),
  run: z.string(),
  procedure: z.string(),
  position: z.number(),
  key: z.string().optional(),
  kind: z.enum(askKinds),
  status: z.enum(askStatuses),
  message: z.string(),
  choices: z.array(choice),
  decisions: z.array(decision),
  severity: z.enum(severities).optional(),
  risk: risk.optional(),
  to: z.array(z.string()),
  askedAt: instant,
  dueAt: instant.optional(),
  onTimeout: z.string().optional(),
  overdue: z.boolean(),
  require: z.enum(commentRules).optional().meta({ description: 'Which answers must have a comment' }),
  startedBy: z.string().optional(),
  answer: z
    .object({
      by: z.string(),
      at: instant,
      via: z.string().optional().meta({ description: 'The channel it came through, as the caller said' }),
      madeBy: z.string().optional().meta({ description: 'Who made the link that it came through' }),
      actedBy: z.string().optional().meta({ description: 'Who gave it for the person in `by`' }),
      comment: z.string().optional(),
      approved: z.boolean().optional(),
      params: payload.optional(),
      value: payload.optional(),
      choice: z.string().optional(),
      artifact: payload.optional(),
    })
    .optional(),
}
export const askBriefShape = z.object(briefFields).meta({ id: 'AskBrief' })
export type AskBriefJson = z.infer<typeof askBriefShape>

export const askShape = z
  .object({
    ...briefFields,
    digest: z.string().meta({ description: 'Identifies what is shown: pass it with the answer' }),
    params: payload.optional(),
    editable: z.array(z.string()),
    schema: z.unknown().optional().meta({ description: 'JSON Schema of the answer' }),
    artifact: payload.optional(),
    baseline: payload.optional(),
    as: z.enum(formats).optional(),
    initial: payload.optional(),
    error: failure.optional(),
    alternatives: z.array(z.object({ label: z.string(), description: z.string().optional() })),
    details: z.array(z.object({ title: z.string(), body: payload, as: z.string().optional() })),
    links: z.array(z.object({ label: z.string(), url: z.string() })),
    history: z.array(z.object({ step: z.string(), result: payload, durationMs: z.number() })),
  })
  .meta({ id: 'Ask' })
/** An ask, as the HTTP API replies with it. Fields without a value are left out; instants are ISO 8601. */
export type AskJson = z.infer<typeof askShape>

export const logEntryShape = z
  .object({
    position: z.number(),
    type: z.string(),
    name: z.string(),
    status: z.enum(entryStatuses),
    result: payload,
    timestamp: z.string(),
    duration_ms: z.number(),
    attempts: z
      .array(
        z.object({
          attempt: z.number().int().meta({ description: 'From 1' }),
          timestamp: z.string().meta({ description: 'When it failed' }),
          duration_ms: z.number(),
          error: failure,
        }),
      )
      .optional()
      .meta({ description: 'The failed attempts that are, or were, retried: at most the last 20' }),
    consent_to: z.string().optional().meta({
      description: 'The action to whose consent it belongs: its result cannot be edited by a fork',
    }),
    next_attempt_at: z.string().optional().meta({ description: 'When an open operation is retried' }),
  })
  .meta({ id: 'LogEntry' })
/** An operation in the log of a run, as the HTTP API replies with it. */
export type LogEntryJson = z.infer<typeof logEntryShape>

export const meShape = z.object({
  actor: z.string(),
  names: z.array(z.string()),
  role: z.enum(roles),
  actAs: z.boolean(),
})
export type MeJson = z.infer<typeof meShape>

/** An error in one part of a value. */
export const issueShape = z.object({ path: z.string(), message: z.string() }).meta({ id: 'Issue' })

export const problemShape = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.number(),
    detail: z.string(),
    code: z.string(),
    details: z.unknown().optional(),
  })
  .meta({ id: 'Problem' })

/** An answer: one of the forms, as `client.inbox.answer` takes it. */
export const answerShape = z
  .union([
    z.strictObject({ approved: z.literal(true), params: payload.optional(), comment: z.string().optional() }),
    z.strictObject({ approved: z.literal(false), comment: z.string().optional() }),
    z.strictObject({ value: payload, comment: z.string().optional() }),
    z.strictObject({ choice: z.string(), artifact: payload.optional(), comment: z.string().optional() }),
  ])
  .meta({ id: 'Answer' })
export type AnswerJson = z.infer<typeof answerShape>

/** The body of `POST /resume`: an answer, or a decision by name. */
export const resolutionShape = z.union([
  answerShape,
  z.strictObject({
    decision: z.string().meta({ description: "'approve', 'reject', or a choice of the ask" }),
    params: z.record(z.string(), z.unknown()).optional(),
    artifact: payload.optional(),
    comment: z.string().optional(),
  }),
])
export type ResolutionJson = z.infer<typeof resolutionShape>

/** The data of a frame of `GET /runs/{run}/events`. */
export const runEventShape = z
  .object({
    seq: z.number().meta({ description: 'The id of the frame' }),
    at: instant,
    type: z.string(),
    entry: logEntryShape.optional().meta({ description: 'The entry of the log that the event changes' }),
  })
  .meta({ id: 'RunEvent' })
export type RunEventJson = z.infer<typeof runEventShape>

export const workerShape = z
  .object({
    name: z.string().meta({ description: 'Host and process' }),
    startedAt: instant.optional(),
    seenAt: instant.meta({ description: 'When it last renewed its lease' }),
    leaseEndsAt: instant.meta({ description: 'When its lease expires unless it renews it' }),
    runs: z.number().meta({ description: 'The number of runs that it owns' }),
    procedures: z.array(z.object({ name: z.string(), version: z.number() })),
  })
  .meta({ id: 'Worker' })
export type WorkerJson = z.infer<typeof workerShape>

export const procedureShape = z
  .object({
    name: z.string(),
    version: z.number(),
    takesInput: z.boolean().optional().meta({ description: 'Left out if no worker declares it' }),
    input: z
      .record(z.string(), z.unknown())
      .optional()
      .meta({ description: 'JSON Schema of the input, if its schema has one' }),
    workers: z.number().meta({ description: 'The number of live workers that can execute it' }),
  })
  .meta({ id: 'Procedure' })

export const feedNames = [
  'ask.opened',
  'ask.closed',
  'run.ended',
  'run.stuck',
  'run.quarantined',
  'notice',
] as const
export type FeedName = (typeof feedNames)[number]

/** The data of a frame of `GET /events`. */
export const feedEventShape = z
  .object({
    event: z.enum([...feedNames, 'reset']).meta({
      description:
        'Also the name of the frame. reset: events after the requested number are gone; list again',
    }),
    n: z.number().meta({ description: 'The id of the frame' }),
    at: instant,
    ask: z.string().optional(),
    run: z.string().optional(),
    notice: z.string().optional().meta({ description: 'The id of the notice' }),
    reEmitted: z.literal(true).optional().meta({ description: 'The ask was open already' }),
  })
  .meta({ id: 'FeedEvent' })
export type FeedEventJson = z.infer<typeof feedEventShape>
