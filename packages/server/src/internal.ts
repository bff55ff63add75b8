// The replies of the HTTP API as the inbox reads them: types alone, which add nothing to a bundle. Not public; may change at any
// time.
import type { Json } from './json/payload.ts'
import type {
  AnswerJson,
  AskBriefJson,
  AskJson,
  CheckpointJson,
  LogEntryJson,
  MeJson,
  NoticeJson,
  PreviewJson,
  RunJson,
  StateJson,
  WorkerJson,
} from './json/shapes.ts'
import type { Problem as ServerProblem } from './types.ts'

/** A reply as its reader sees it: read-only, what is undefined is left out, and a payload is JSON. */
type Reply<T> = unknown extends T
  ? Json
  : T extends readonly (infer Item)[]
    ? readonly Reply<Item>[]
    : T extends object
      ? { readonly [K in keyof T]: Reply<Exclude<T[K], undefined>> }
      : T

export type { Json }
export type JsonObject = { readonly [key: string]: Json }

export type { Role } from './auth/roles.ts'
export type Me = Reply<MeJson>

export type AskBrief = Reply<AskBriefJson>
export type Ask = Reply<AskJson>
export type AskKind = Ask['kind']
export type AskStatus = Ask['status']
export type Choice = Ask['choices'][number]
export type Decision = Ask['decisions'][number]
export type Risk = NonNullable<Ask['risk']>
export type RiskLevel = Risk['level']
export type GivenAnswer = NonNullable<Ask['answer']>
export type Answer = Reply<AnswerJson>

export type Run = Reply<RunJson>
export type RunStatus = Run['status']
export type RunValues = NonNullable<Run['values']>
export type RunFacts = NonNullable<Run['facts']>
export type Waiting = Run['waitingFor'][number]
export type Stuck = NonNullable<Run['stuck']>
export type Rollback = NonNullable<Run['rollback']>
export type Progress = NonNullable<Run['progress']>
export type Failure = NonNullable<Run['failure']>
export type State = Reply<StateJson>
export type Checkpoint = Reply<CheckpointJson>
export type LogEntry = Reply<LogEntryJson>
export type FailedAttempt = NonNullable<LogEntry['attempts']>[number]
export type RepeatPreview = Reply<PreviewJson>
export type RepeatedOperation = RepeatPreview['operations'][number]

export type Notice = Reply<NoticeJson>
export type Worker = Reply<WorkerJson>

/** A refusal. Those of `ask-closed` name the person whose answer counts. */
export type Problem = ServerProblem & {
  readonly details?: { readonly winner?: { readonly by: string; readonly at: string } }
}
export type Issue = NonNullable<NonNullable<Problem['details']>['issues']>[number]
