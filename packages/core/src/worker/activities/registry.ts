import type {
  AskOperation,
  ChildOperation,
  OperationByKind,
  ProcedureOperation,
} from '../../authoring/operations.ts'
import type { LogEvent, OperationKind } from '../../events/event.ts'
import type { Pending } from '../../kernel/operation.ts'
import type { Activity, ActivityContext } from './activity.ts'
import { AskActivity } from './ask/ask-activity.ts'
import { CheckpointActivity } from './checkpoint/checkpoint-activity.ts'
import { ChildActivity } from './children/child-activity.ts'
import { ResultActivity } from './children/result-activity.ts'
import { SendActivity } from './children/send-activity.ts'
import { DecideActivity } from './decide/decide-activity.ts'
import { NoticeActivity } from './notice/notice-activity.ts'
import { SignalActivity } from './signal/signal-activity.ts'
import { BodyActivity } from './step/step-activity.ts'
import { TimerActivity } from './timer/timer-activity.ts'
import { ReplyActivity } from './update/reply-activity.ts'
import { UpdateActivity } from './update/update-activity.ts'

/** The activity of one kind of operation. */
interface ActivityKind<O extends ProcedureOperation> {
  /** Whether it has external effects: it is reported if it never starts, and awaited if a bug stops its run. */
  readonly acts: boolean
  /** Creates the activity. `records`: the events of the operation in the log, none of which settled it. */
  create(context: ActivityContext, pending: Pending<O>, records: readonly LogEvent[]): Activity
}

const step: ActivityKind<OperationByKind['step']> = {
  acts: true,
  create: (context, pending, records) => new BodyActivity(context, pending, records),
}

const ask: ActivityKind<AskOperation> = {
  acts: false,
  create: (context, pending, records) =>
    new AskActivity({
      context,
      pending,
      spec: pending.operation.ask,
      asked: records.find(({ type }) => type === 'asked'),
    }),
}

const child: ActivityKind<ChildOperation> = {
  acts: true,
  create: (context, pending, records) => new ChildActivity(context, pending, records),
}

/** One entry for each kind of operation; a missing kind is a type error. */
export const activityKinds: { readonly [K in OperationKind]: ActivityKind<OperationByKind[K]> } = {
  step,
  llm: step,
  timer: { acts: false, create: (context, pending) => new TimerActivity(context, pending) },
  signal: { acts: false, create: (context, pending) => new SignalActivity(context, pending) },
  hitl_approval: ask,
  hitl_input: ask,
  hitl_select: ask,
  hitl_review: ask,
  hitl_escalation: ask,
  hitl_notification: { acts: true, create: (context, pending) => new NoticeActivity(context, pending) },
  ail_decision: {
    acts: true,
    create: (context, pending, records) => new DecideActivity(context, pending, records),
  },
  undo: step,
  child,
  spawn: child,
  result: { acts: false, create: (context, pending) => new ResultActivity(context, pending) },
  update: { acts: false, create: (context, pending) => new UpdateActivity(context, pending) },
  reply: { acts: false, create: (context, pending) => new ReplyActivity(context, pending) },
  checkpoint: { acts: false, create: (context, pending) => new CheckpointActivity(context, pending) },
  send: { acts: true, create: (context, pending) => new SendActivity(context, pending) },
}

/** Creates the activity of an operation. */
export function createActivity(
  context: ActivityContext,
  pending: Pending<ProcedureOperation>,
  records: readonly LogEvent[],
): Activity {
  const kind: ActivityKind<ProcedureOperation> = activityKinds[pending.operation.kind]
  return kind.create(context, pending, records)
}
