// All a store may import.

export { compareOrder, orderOf } from './asks/order.ts'
export { docsPage } from './base/docs.ts'
export { unreachable } from './base/unreachable.ts'
export type { AskStatus } from './base/words.ts'
export { checkBoolean, checkKeys, checkObject, refuse } from './checks/options.ts'
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
export {
  askStatusCode,
  eventTypeCode,
  markCode,
  messageKindCode,
  operationKindCode,
  refuseMessage,
  stateCode,
} from './ports/codes.ts'
export { connectTo, defineStore, type Store } from './ports/connect.ts'
export type {
  Answered,
  AskOrder,
  AskQuery,
  AskRow,
  Backlog,
  Claimant,
  Claimed,
  Claims,
  Created,
  Damaged,
  Effect,
  EndState,
  Mark,
  Message,
  NewAnswer,
  NewAsk,
  NewMessage,
  NewRun,
  NewWorker,
  ProcedureVersions,
  QuarantineCause,
  RunKey,
  RunQuery,
  RunRow,
  RunState,
  Sent,
  StorePort,
  Suspect,
  Unit,
  UnitOutcome,
  WorkerKey,
} from './ports/store.ts'
export { suspectTries } from './ports/suspects.ts'
