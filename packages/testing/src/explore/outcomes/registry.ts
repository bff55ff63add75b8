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
  readonly list: ListOutcomes<O>
}

/** How each kind of operation may end. */
const exploredKinds: { readonly [K in OperationKind]: ExploredKind<OperationByKind[K]> } = {
  step: { waits: false, list: listBodyOutcomes },
  llm: { waits: false, list: listBodyOutcomes },
  undo: { waits: false, list: listBodyOutcomes },
  timer: { waits: true, list: listTimerOutcomes },
  signal: { waits: true, list: listSignalOutcomes },
  hitl_approval: { waits: true, list: listAskOutcomes },
  hitl_input: { waits: true, list: listAskOutcomes },
  hitl_select: { waits: true, list: listAskOutcomes },
  hitl_review: { waits: true, list: listAskOutcomes },
  hitl_escalation: { waits: true, list: listAskOutcomes },
  hitl_notification: { waits: false, list: listNoticeOutcomes },
  ail_decision: { waits: true, list: listDecideOutcomes },
  child: { waits: false, list: listResultOutcomes },
  spawn: { waits: false, list: listSpawnOutcomes },
  result: { waits: false, list: listResultOutcomes },
  send: { waits: false, list: listSendOutcomes },
  // No update comes: what their handlers do is not explored.
  update: { waits: true, list: () => [] },
  reply: { waits: false, list: listReplyOutcomes },
  checkpoint: { waits: false, list: listCheckpointOutcomes },
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
