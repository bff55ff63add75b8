import type { OperationByKind, Pending, ProcedureOperation } from '@pawl/core/internal'
import type { OperationKind } from '@pawl/core/storage'
import type { ActKind } from '../exploration.ts'
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
  /** As what it changes something outside the run; null if it does not. */
  readonly acts: ActKind | null
  readonly list: ListOutcomes<O>
}

/** How each kind of operation may end. */
const exploredKinds: { readonly [K in OperationKind]: ExploredKind<OperationByKind[K]> } = {
  step: { waits: false, acts: 'step', list: listBodyOutcomes },
  llm: { waits: false, acts: null, list: listBodyOutcomes },
  undo: { waits: false, acts: null, list: listBodyOutcomes },
  timer: { waits: true, acts: null, list: listTimerOutcomes },
  signal: { waits: true, acts: null, list: listSignalOutcomes },
  hitl_approval: { waits: true, acts: null, list: listAskOutcomes },
  hitl_input: { waits: true, acts: null, list: listAskOutcomes },
  hitl_select: { waits: true, acts: null, list: listAskOutcomes },
  hitl_review: { waits: true, acts: null, list: listAskOutcomes },
  hitl_escalation: { waits: true, acts: null, list: listAskOutcomes },
  hitl_notification: { waits: false, acts: null, list: listNoticeOutcomes },
  ail_decision: { waits: true, acts: null, list: listDecideOutcomes },
  child: { waits: false, acts: 'child', list: listResultOutcomes },
  spawn: { waits: false, acts: 'child', list: listSpawnOutcomes },
  result: { waits: false, acts: null, list: listResultOutcomes },
  send: { waits: false, acts: 'message', list: listSendOutcomes },
  // No update comes: what their handlers do is not explored.
  update: { waits: true, acts: null, list: () => [] },
  reply: { waits: false, acts: null, list: listReplyOutcomes },
  checkpoint: { waits: false, acts: null, list: listCheckpointOutcomes },
}

export function actOf(kind: OperationKind): ActKind | null {
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
