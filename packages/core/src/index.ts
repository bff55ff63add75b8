// The public API. Anything not exported here may change at any time.
export type { AskDecision } from './asks/decisions.ts'
export {
  type Agent,
  type AgentCall,
  type AgentCallOptions,
  type AgentOps,
  type AgentSpec,
  agent,
  type DecideOptions,
  type Decision,
  decider,
  type Usage,
} from './authoring/agent/agent.ts'
export type { Question, Verdict } from './authoring/agent/verdict.ts'
export type { ChildArgs, ChildHandle, ChildOptions } from './authoring/children/child.ts'
export type { Ctx, ReceiveOptions, UpdateSender } from './authoring/ctx.ts'
export type { Progress } from './authoring/exposed/progress.ts'
export type { Gate, GateAgent, Gated, NotDone } from './authoring/gate/gate.ts'
export type {
  Alternative,
  Answered,
  Approval,
  Approved,
  AskOptions,
  Choice,
  ChoiceDetails,
  Escalate,
  Impact,
  Link,
  NotApproved,
  Resolution,
  Review,
  RiskDetails,
  Section,
  ValueOf,
} from './authoring/human/ask.ts'
export type {
  ApproveOptions,
  ConsentAsk,
  EscalateOptions,
  Human,
  InputOptions,
  NotifyOptions,
  ReviewOptions,
} from './authoring/human/human.ts'
export type { Shown, ValuesFor } from './authoring/human/template.ts'
export type { ActOptions, CancelOptions, SignalOptions } from './authoring/message-options.ts'
export type {
  Action,
  ActionCheck,
  Actions,
  ActionTask,
  AgentCheck,
  HumanCheck,
  JudgeOptions,
  PlanEdit,
  PlanOptions,
  PlanResult,
  PlanView,
  Proposal,
  ResultReference,
  Task,
  TaskCheck,
  VerifyTask,
} from './authoring/plan/plan.ts'
export type { ActionClass, Policy, PolicyQuestion } from './authoring/policy/policy.ts'
export { type CtxOf, type Procedure, type ProcedureSpec, procedure, ref } from './authoring/procedure.ts'
// The types of generic functions around procedures refer to InputOf and the following types.
export type {
  InputOf,
  ParsedOf,
  PayloadOf,
  ProcedureRef,
  Received,
  SignalName,
  StateName,
  StateOf,
  Talk,
  TalkOf,
  UpdateIn,
  UpdateName,
  UpdateOut,
} from './authoring/procedure-types.ts'
export type { RollbackSpec } from './authoring/rollback/rollback.ts'
export type { MapOptions, ScopeOps, Winner } from './authoring/scopes/scope-ops.ts'
export type { AttemptOptions, Retry, StepCall, StepOptions } from './authoring/step/step.ts'
export type { Deadline, Duration } from './base/duration.ts'
export type { Issue, Issues } from './base/issues.ts'
export type { Actor, Audience } from './base/people.ts'
export type { Refused } from './base/refused.ts'
export type {
  AskKind,
  AskStatus,
  CommentRule,
  PolicyVerdict,
  RiskLevel,
  RunStatus,
  RunVerb,
  Severity,
} from './base/words.ts'
export { duration } from './checks/duration.ts'
export type { AnsweredBy, As, ResumeResolution } from './client/answering.ts'
export type {
  Checkpoint,
  CheckpointCleanup,
  CheckpointFilter,
  CheckpointOptions,
  Checkpoints,
} from './client/checkpoints/checkpoint.ts'
export type { EngineOptions, Retention } from './client/engine-options.ts'
export type { FeedEvent } from './client/feed.ts'
export type { Page } from './client/page.ts'
export type {
  FollowFeedOptions,
  Plugin,
  PluginHost,
  PluginOption,
  StopPlugin,
} from './client/plugins/plugin.ts'
export type {
  AskAddress,
  AskByKey,
  AskCount,
  AskFilter,
  CheckFilter,
  Client,
  ClientOptions,
  CountFilter,
  Engine,
  ForkChanges,
  ForkPoint,
  ImportedRun,
  ImportOptions,
  Inbox,
  InboxEvent,
  KeptAnswer,
  LogPage,
  NextFilter,
  NoticeFilter,
  NoticeReader,
  ResultOptions,
  RunFilter,
  RunHandle,
  RunOptions,
  RunOrGetOptions,
  StateOptions,
  StatusOptions,
  StopOptions,
  UpdateOptions,
  WatchOptions,
} from './client/types.ts'
export type {
  AcceptedAnswer,
  Answer,
  Ask,
  ChildrenCount,
  Delivery,
  ExecutionLog,
  ExposedValue,
  FailedAttempt,
  Notice,
  Possibility,
  ProgressView,
  RollbackView,
  RunFacts,
  RunOwner,
  RunParentView,
  RunUsage,
  RunValues,
  RunView,
  RunWithFacts,
  RunWithValues,
  Stuck,
  Waiting,
} from './client/views/views.ts'
export { checkRuns, createClient, createEngine } from './engine.ts'
export type { ErrorCode, ErrorDetails, Failure } from './errors/error-details.ts'
export { FinalError } from './errors/final-error.ts'
export { PawlError } from './errors/pawl-error.ts'
export type { TraceContext } from './events/payloads.ts'
export type { LinkOptions } from './host/links/token.ts'
export type { Store } from './ports/connect.ts'
export type { Logger } from './ports/logger.ts'
export type {
  AttemptObservation,
  AttemptReport,
  CallObservation,
  ObservedAsk,
  ObservedAttempt,
  ObservedCall,
  ObservedCommit,
  ObservedEnd,
  ObservedEngine,
  ObservedFailure,
  ObservedRun,
  Observer,
} from './ports/observer.ts'
export type { RepeatedOperation, RepeatPreview } from './runs/preview.ts'
export {
  type Branch,
  type CheckedRun,
  type RunCheck,
  type UnusedBranch,
  unusedBranches,
} from './runs/run-check.ts'
export type { Schema } from './schemas/schema.ts'
