import type { OperationByKind, Pending, ProcedureOperation } from '@pawl/core/internal'
import type { OperationKind } from '@pawl/core/storage'
import { listAskOutcomes } from './asks.ts'
import { listBodyOutcomes } from './bodies.ts'
import { listDecideOutcomes } from './decisions.ts'
import {
  listCheckpointOutcomes,
  listNoticeOutcomes,
  listReplyOutcomes,
  listResultOutcomes,
  listSendOutcomes,
  listSpawnOutcomes,
} from './others.ts'
import type { ListOutcomes, Outcome, Surroundings } from './outcome.ts'
import { listSignalOutcomes, listTimerOutcomes } from './timers.ts'

interface ExploredKind<O extends ProcedureOperation> {
  /** Whether when it ends depends on people, on the time, or on other programs. */
  readonly waits: boolean
  /** Whether it changes something outside the run. */
  readonly acts: boolean
  readonly list: ListOutcomes<O>
}

/** How each kind of operation may end. */
const exploredKinds: { readonly [K in OperationKind]: ExploredKind<OperationByKind[K]> } = {
  step: { waits: false, acts: true, list: listBodyOutcomes },
  llm: { waits: false, acts: false, list: listBodyOutcomes },
  undo: { waits: false, acts: false, list: listBodyOutcomes },
  timer: { waits: true, acts: false, list: listTimerOutcomes },
  signal: { waits: true, acts: false, list: listSignalOutcomes },
  hitl_approval: { waits: true, acts: false, list: listAskOutcomes },
  hitl_input: { waits: true, acts: false, list: listAskOutcomes },
  hitl_select: { waits: true, acts: false, list: listAskOutcomes },
  hitl_review: { waits: true, acts: false, list: listAskOutcomes },
  hitl_escalation: { waits: true, acts: false, list: listAskOutcomes },
  hitl_notification: { waits: false, acts: false, list: listNoticeOutcomes },
  ail_decision: { waits: true, acts: false, list: listDecideOutcomes },
  child: { waits: false, acts: true, list: listResultOutcomes },
  spawn: { waits: false, acts: true, list: listSpawnOutcomes },
  result: { waits: false, acts: false, list: listResultOutcomes },
  send: { waits: false, acts: true, list: listSendOutcomes },
  // No update comes: what their handlers do is not explored.
  update: { waits: true, acts: false, list: () => [] },
  reply: { waits: false, acts: false, list: listReplyOutcomes },
  checkpoint: { waits: false, acts: false, list: listCheckpointOutcomes },
}

export function doesAct(kind: OperationKind): boolean {
  return exploredKinds[kind].acts
}

export function waitsForOthers(kind: OperationKind): boolean {
  return exploredKinds[kind].waits
}

export function listOutcomes(
  pending: Pending<ProcedureOperation>,
  around: Surroundings,
): readonly Outcome[] | Promise<readonly Outcome[]> {
  const { list } = exploredKinds[pending.operation.kind] as ExploredKind<ProcedureOperation>
  return list(pending, around)
}
