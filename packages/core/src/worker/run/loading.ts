import type { LogEvent } from '../../events/event.ts'
import { rounds } from '../../host/rounds.ts'
import { type RetryPolicy, retrying } from '../retrying.ts'
import type { InputRefused } from './continuation.ts'
import { leaveBroken } from './leaving.ts'
import { ReadFailed, readAgainMs } from './log-reader.ts'
import type { RunState } from './state.ts'

/** Work of loading a run, in rows. */
const workOfLoad = 10

export type Loaded =
  | { readonly is: 'gone' }
  /** It was cancelled, and none of its code runs. */
  | { readonly is: 'cancelled' }
  /** Its input does not match the schema. */
  | { readonly is: 'refused'; readonly refused: InputRefused }
  /** Its log and its messages are in memory, and the log is delivered. */
  | { readonly is: 'replayed' }

/** Reads the log, verifies it, and replays it, while its messages are being read. */
export async function loadRun(state: RunState): Promise<Loaded> {
  await rounds.enter(workOfLoad)
  if (state.isOver) return { is: 'gone' }
  const unbegun = await endsUnbegun(state)
  if (unbegun) return { is: state.isOver ? 'gone' : 'cancelled' }
  // Fetched while the log is being read.
  const mail = state.mailbox.read()
  mail.catch(() => {})
  const refused = await state.continuation.replay(state.log)
  await mail
  if (refused === null && state.continuation.endsUnbegun) return { is: 'cancelled' }
  return refused === null ? { is: 'replayed' } : { is: 'refused', refused }
}

/** Whether it was cancelled before its first turn, or without its code: then none of its code runs. */
async function endsUnbegun(state: RunState): Promise<boolean> {
  const { procedure, version, head, base, mail, epoch, alone } = state.claimed
  const hasCode = state.services.procedure(procedure, version) !== undefined
  // A run that was owned before may have had its first turn, although its log has no event of it: its cleanup runs. If a
  // worker died while it was tested alone, its code must not kill the next one before the cancel is recorded.
  const mayHaveBegun = hasCode && alone === 0
  if (hasCode && (head - base > 1 || mail === 0)) return false
  if (mayHaveBegun && base === 0 && epoch > 2) return false
  await state.mailbox.read()
  if (state.isOver || (hasCode && state.cancelRequest === undefined)) return state.isOver
  for await (const page of state.log.pages()) {
    const [first] = page as readonly [LogEvent]
    if (first.seq === base) state.continuation.noteParent(first)
    if (mayHaveBegun && !state.continuation.isUnbegun(state.log, first)) return false
    state.continuation.notes.add(page)
  }
  return true
}

/** Retries a read that the store did not answer. Any other error concerns this run's data, and parks it. */
export async function readAgain(state: RunState, task: () => Promise<void>): Promise<void> {
  const { services, id } = state
  const policy: RetryPolicy = {
    afterMs: readAgainMs,
    isOver: () => state.isOver,
    isRetried(error) {
      if (!(error instanceof ReadFailed)) return false
      services.logger.error(`Run "${id}" could not be read; retrying`, { error: error.cause })
      return true
    },
    onWait(callOff) {
      state.callOff = callOff
    },
  }
  await retrying(services.clock, policy, task).catch((error) => leaveBroken(state, error, 'its log'))
}
