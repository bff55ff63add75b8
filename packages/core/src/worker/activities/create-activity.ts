import type {
  AskOperation,
  BodyOperation,
  DecideOperation,
  NoticeOperation,
  ProcedureOperation,
  SignalOperation,
  TimerOperation,
} from '../../authoring/operations.ts'
import type { LogEvent } from '../../events/event.ts'
import type { Activity, PendingOf, Workplace } from './activity.ts'
import { AskActivity } from './ask-activity.ts'
import { BodyActivity } from './body-activity.ts'
import { DecideActivity } from './decide-activity.ts'
import { NoticeActivity } from './notice-activity.ts'
import { SignalActivity } from './signal-activity.ts'
import { TimerActivity } from './timer-activity.ts'

/** What the worker does for an operation. `records`: its events in the log, none of which settled it. */
export function createActivity(
  place: Workplace,
  pending: PendingOf<ProcedureOperation>,
  records: readonly LogEvent[],
): Activity {
  const { operation } = pending
  switch (operation.kind) {
    case 'step':
    case 'llm':
      return new BodyActivity(place, pending as PendingOf<BodyOperation>, records)
    case 'timer':
      return new TimerActivity(place, pending as PendingOf<TimerOperation>)
    case 'signal':
      return new SignalActivity(place, pending as PendingOf<SignalOperation>)
    case 'hitl_notification':
      return new NoticeActivity(place, pending as PendingOf<NoticeOperation>)
    case 'ail_decision':
      return new DecideActivity(place, pending as PendingOf<DecideOperation>, records)
    default:
      return new AskActivity({
        place,
        pending: pending as PendingOf<AskOperation>,
        spec: operation.ask,
        asked: records.find(({ type }) => type === 'asked'),
      })
  }
}
