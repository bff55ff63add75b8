// The parts of an engine that @pawl/testing, @pawl/server and the adapters build on, each with its ports. Not public; may change at any time.

export { checkAnswer } from './asks/answer-check.ts'
export { urgencyOf } from './asks/ask.ts'
export { AskIds, askAddressOf } from './asks/ask-id.ts'
export { decisionsOf, isCritical, isRefusal } from './asks/decisions.ts'
export {
  type Answerer,
  type AnswerVerdict,
  allowed as allowedAnswer,
  isAddressedTo,
  mayAnswer,
  mayApprove,
} from './asks/rights.ts'
export { type AgentDefinition, agentDefinitionOf, decider } from './authoring/agent/agent.ts'
export { isCausedByCancel, readCancel } from './authoring/cancel.ts'
export { createProgram } from './authoring/context.ts'
export { ContinueRequest, ContinueRequests } from './authoring/generations/continue-as.ts'
export { askUnderFreeKey } from './authoring/human/free-key.ts'
export {
  type AskOperation,
  type AskSpec,
  type BodyOperation,
  type DecideOperation,
  dueAt,
  type OperationByKind,
  type ProcedureOperation,
  type SignalOperation,
} from './authoring/operations.ts'
export { definitionOf, type ProcedureDefinition } from './authoring/procedure.ts'
export { createRollbackProgress } from './authoring/rollback/rollback.ts'
export { BegunUpdates } from './authoring/update/update.ts'
export { isBuiltIn, isReservedId } from './base/built-in.ts'
export { docsPage } from './base/docs.ts'
export { formatDuration } from './base/duration.ts'
export { isEqual } from './base/equal.ts'
export { escapeHiddenInJson, markHidden, toOneLine } from './base/hidden.ts'
export { implement } from './base/implement.ts'
export { issuesOf } from './base/issues.ts'
export { Notifier } from './base/notifier.ts'
export { createChance, seedBytes } from './base/prng.ts'
export { clipText, showValue } from './base/text.ts'
export {
  askKinds,
  askStatuses,
  commentRules,
  endStatuses,
  entryStatuses,
  formats,
  riskLevels,
  runStatuses,
  runVerbs,
  severities,
  waitingKinds,
} from './base/words.ts'
export { createChecker } from './check.ts'
export { parseDuration } from './checks/duration.ts'
export {
  checkArray,
  checkFunction,
  checkInstant,
  checkKeys,
  checkName,
  checkObject,
  checkOneOf,
  checkShown,
  checkText,
  checkWhole,
  findNearest,
  refuse,
} from './checks/options.ts'
export { checkActor, checkAudience, readAudiences } from './checks/people.ts'
export { milliseconds, oneOf, optional, readOptions, readPart, required, type Spec } from './checks/spec.ts'
export { createConnectedClient } from './client/client.ts'
export type { FollowOptions } from './client/feed.ts'
export { deliveryProcedureOf, deliveryTag } from './client/inbox/deliveries.ts'
export type { FoundAsk } from './client/inbox/find.ts'
export {
  answerFound,
  answerRulesOf,
  askByKeyOf,
  checkFound,
  findAskOf,
  type RunEvent,
  readEvents,
  readFeed,
  readStates,
  readStoreHealth,
  readWorkers,
  startersOfOriginals,
} from './client/internal.ts'
export { checkEngineKeys, type EngineSettings, readEngineOptions, readStopOptions } from './client/options.ts'
export { Plugins } from './client/plugins/plugins.ts'
export {
  partsOfAsk,
  partsOfNotice,
  payloadText,
  plainPayload,
  type ShownFact,
  type ShownPart,
  severityTitle,
} from './client/views/facts.ts'
export { keptByDefault, systemPorts } from './engine.ts'
export { isBug } from './errors/bug.ts'
export { listIssues, showFailure } from './errors/catalogue.ts'
export { failureOf, recordFailure } from './errors/failure.ts'
export { decodePayload, encodePayload } from './events/codec.ts'
export { consentNames, endBeforeUnusedYes } from './events/consent.ts'
export type { LogEvent } from './events/event.ts'
export { decode, encode, encodeRecord } from './events/payload.ts'
export type { AskPayload, DecisionPayload, Judged } from './events/payloads.ts'
export { LogHash } from './events/seal.ts'
export { currentBody } from './host/body.ts'
export { consoleLogger } from './host/console-logger.ts'
export { allowGrace, drain, measureRoundsBy } from './host/drain.ts'
export { installGuard } from './host/guard/guard.ts'
export { guardVerbs } from './host/guard/verbs.ts'
export { type LinkSigner, linkEnd, linkSigner, type SignedLink } from './host/links/token.ts'
export { validate } from './host/run-schema.ts'
export { makeSafe } from './host/safe-observer.ts'
export { sha256 } from './host/sha256.ts'
export { installShield } from './host/shield.ts'
export { adviseRun, turns } from './host/turn.ts'
export type { Decision, Waiting } from './kernel/decision.ts'
export { Execution } from './kernel/execution.ts'
export type { Operation, Pending, Program } from './kernel/operation.ts'
export type { Scope } from './kernel/scope.ts'
export type { Clock } from './ports/clock.ts'
export { defaultMaxCrashes } from './ports/crash-loops.ts'
export type { Effects } from './ports/effects.ts'
export type { Entropy } from './ports/entropy.ts'
export type { LocalWorker } from './ports/local-worker.ts'
export { noticeKinds } from './ports/store/notices.ts'
export { type StoreCall, type StoreMethod, wrapCalls } from './ports/wrap-calls.ts'
export { cancelByNo, settleByTimeout } from './worker/activities/ask/settle.ts'
export { Worker } from './worker/worker.ts'
