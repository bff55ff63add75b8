import { topics } from '../base/bell.ts'
import { recordFailure } from '../errors/failure.ts'
import { PawlError } from '../errors/pawl-error.ts'
import { WrittenLater } from '../events/codec.ts'
import { encodeRecord } from '../events/payload.ts'
import type { QuarantineCause, RunKey } from '../ports/store.ts'
import type { Surroundings } from './run-host.ts'

/** A mark that could not be written is written again after this. */
const markAgainMs = 1_000

/** Why a run is left alone until a person or a deploy puts it right. */
export interface Reason {
  readonly mark: 'stuck' | 'quarantined'
  /** Only of a quarantine. */
  readonly cause?: QuarantineCause
  readonly error: PawlError
  /** For the logger. */
  readonly why: string
}

/** Today's code does not go with its log. */
export function stuckBy(error: PawlError): Reason {
  return { mark: 'stuck', error, why: error.message }
}

export function quarantinedFor(run: string, why: string, cause: QuarantineCause = 'damage'): Reason {
  return { mark: 'quarantined', cause, error: new PawlError('run-quarantined', { run, reason: why }), why }
}

/** What a later version wrote is no damage: the run waits, as stuck, for a worker that can read it. */
export function unreadFor(run: string, what: string, unread: Error): Reason {
  const why = `${what} cannot be read: ${unread.message}`
  if (!(unread instanceof WrittenLater || unread.cause instanceof WrittenLater))
    return quarantinedFor(run, why)
  const sentences = {
    what: `Run ${run} is of a later version of Pawl: ${why}.`,
    next: "It is parked as 'stuck' and nothing was written; a worker of that version goes on with it.",
    remedy: 'Deploy the version that wrote it.',
  }
  const error = new PawlError('run-quarantined', { run, reason: why }, sentences)
  return { mark: 'stuck', error, why }
}

/**
 * Marks the run in the store, however long that takes, unless somebody else owns it by then: `onGone` is called
 * either way. Returns how to give up.
 */
export function putAside(
  { store, worker, logger, clock, bell }: Surroundings,
  run: { readonly key: RunKey; readonly id: string; readonly epoch: number },
  { mark, cause, error, why }: Reason,
  onGone: () => void,
): () => void {
  const reason = encodeRecord(recordFailure(error), 'reason')
  let callOff = (): void => {}
  let isGivenUp = false
  const write = (): void => {
    store.mark(worker, run.key, run.epoch, mark, reason, cause).then(
      (isMarked) => {
        if (isGivenUp) return
        if (isMarked) logger.error(`run "${run.id}" is ${mark}: ${why}`)
        else logger.warn(`run "${run.id}" has another owner, who decides whether it is ${mark}: ${why}`)
        onGone()
        bell.ring(topics.end(run.id))
      },
      (fault) => {
        if (isGivenUp) return
        logger.error(`run "${run.id}" could not be marked as ${mark}; trying again`, { error: fault })
        callOff = clock.after(markAgainMs, write)
      },
    )
  }
  write()
  return () => {
    isGivenUp = true
    callOff()
  }
}
