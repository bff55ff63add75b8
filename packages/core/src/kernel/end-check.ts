import type { LogEvent } from '../events/event.ts'
import type { DamagedLog, Nondeterminism } from './decision.ts'
import { describeEvent } from './identity.ts'
import type { IssuedOperations } from './issued.ts'
import type { Operation } from './operation.ts'

/** How a procedure ended. */
export interface Outcome {
  readonly failed: boolean
  readonly value: unknown
}

/** Returns why the log disagrees with the end if this event is behind it; null if it agrees. */
export function checkBehindEnd(
  event: LogEvent,
  { failed, value }: Outcome,
  issued: IssuedOperations<Operation>,
  turn: number,
): Nondeterminism | DamagedLog | null {
  if (event.type === 'started') return startedAgain(event)
  if (mayFollow(event, failed, issued, turn)) return null
  const position = event.kind === null ? issued.nextPosition : event.position
  return failed
    ? { ...differ(event, position, 'its failure'), thrown: { error: value } }
    : differ(event, position, 'its completion')
}

/** Whether an event may follow the end: the same outcome, or late events. Operations of the last turn were never started. */
function mayFollow(
  event: LogEvent,
  failed: boolean,
  issued: IssuedOperations<Operation>,
  turn: number,
): boolean {
  if (event.type === 'ended') return event.failed === failed
  if (event.kind === null) return true
  return issued.recognise(event) === null ? issued.isSettled(event.position) : event.turn < turn
}

/** The log has another event than the code asks for. */
export function differ(event: LogEvent, position: number, asked: string): Nondeterminism {
  return { state: 'nondeterminism', position, recorded: describeEvent(event), asked }
}

export function startedAgain({ seq }: LogEvent): DamagedLog {
  return { state: 'damaged', what: `its event ${seq} is a second "started" event` }
}
