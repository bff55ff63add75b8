// The API for stores.

export { type AskOrderKey, askOrder, compareOrder, orderOf } from './asks/order.ts'
export { docsPage } from './base/docs.ts'
export { unreachable } from './base/unreachable.ts'
export type { AskStatus } from './base/words.ts'
export { checkBoolean, checkKeys, refuse } from './checks/options.ts'
export { anything, oneOf, optional, readOptions, type Spec } from './checks/spec.ts'
export { PawlError } from './errors/pawl-error.ts'
export { RowCorrupt } from './events/codec.ts'
export {
  type EventType,
  type LogEvent,
  type NewEvent,
  noPosition,
  type OperationKind,
  operationKinds,
  type StoredEvent,
} from './events/event.ts'
export { identifyOwnProcess, isProcessGone, type ProcessIdentity } from './host/process/identity.ts'
export { chooseVersion } from './ports/abilities.ts'
export { askSlotOf, readAskSlot } from './ports/ask-slot.ts'
export {
  askStatusCode,
  cancelKey,
  copyKeptMs,
  eventTypeCode,
  feedCode,
  heldKinds,
  hiddenState,
  hideId,
  markCode,
  messageKindCode,
  noticeKindCode,
  operationKindCode,
  refuseMessage,
  severityCode,
  staleKinds,
  stateCode,
} from './ports/codes.ts'
export { connectTo, defineStore, type Store } from './ports/connect.ts'
export { isSuspect, maxPositives, suspectTries } from './ports/crash-loops.ts'
export type {
  Answered,
  AskFilter,
  AskOrder,
  AskQuery,
  AskRow,
  GivenAnswer,
  KeptAnswer,
  NewAnswer,
  NewAsk,
} from './ports/store/asks.ts'
export { everyone, namesOf, placeAsk } from './ports/store/asks.ts'
export type {
  AddedCheckpoint,
  CheckpointAdded,
  CheckpointPlace,
  CheckpointPlaceQuery,
  CheckpointQuery,
  CheckpointRow,
  KeptCheckpoint,
  NewCheckpoint,
} from './ports/store/checkpoints.ts'
export type { Backlog, CancelledRun, Claimant, Claimed, Claims } from './ports/store/claims.ts'
export type {
  ExtractedNotice,
  Installed,
  KeptAsk,
  KeptMessage,
  LastPart,
  RunCopy,
  RunExtract,
} from './ports/store/copies.ts'
export { type FeedEntry, type FeedKind, type FeedPage, feedKeptMs } from './ports/store/feed.ts'
export type { Effect, RefusedWhy, Unit, UnitOutcome } from './ports/store/log.ts'
export type {
  Cancelled,
  Damaged,
  Message,
  NewCancel,
  NewMessage,
  OutgoingMessage,
  Sent,
} from './ports/store/mail.ts'
export type {
  KeptNotice,
  NewNotice,
  NoticeKind,
  NoticeQuery,
  NoticeRow,
} from './ports/store/notices.ts'
export { payloadBytesOf } from './ports/store/payload-bytes.ts'
export type {
  DecisionQuery,
  DecisionRow,
  DecisionSeal,
  EndedPage,
  EndedRun,
  QuarantinedRemoval,
  Removed,
} from './ports/store/removals.ts'
export type {
  ChildRun,
  Created,
  EndState,
  KeptPast,
  Mark,
  NewGeneration,
  NewRun,
  QuarantineCause,
  RunKey,
  RunParent,
  RunQuery,
  RunRow,
  RunState,
  RunSurvey,
  StayingCheckpoint,
} from './ports/store/runs.ts'
export type { StateRow } from './ports/store/states.ts'
export type { OptionalConcerns, StorePort, WholeStore } from './ports/store/store.ts'
export type { Suspect } from './ports/store/suspects.ts'
export type { NewWorker, ProcedureVersions, WorkerKey, WorkerRow } from './ports/store/workers.ts'
export {
  type ClaimedRow,
  type EndedRow,
  type EventRow,
  type FeedRow,
  showClaimed,
  showEndedPage,
  showEvent,
  showFeedEntry,
} from './ports/stored-rows.ts'
export type { Whole } from './ports/whole.ts'
