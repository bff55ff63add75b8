import type { Unit } from '../../ports/store/log.ts'
import type { RunState } from './state.ts'

// A strict unit is refused if a message has come since its decision. Under senders that never pause it would be refused
// for ever: after some refusals in a row the run holds clients back until the unit is written.

/** The number of refusals in a row after which a run holds messages back, and holds them back again. */
const refusalsPerHold = 3
/**
 * The longest time that one hold lasts. It is over earlier when its unit is written. If the worker dies meanwhile, it ends
 * with this time, or with the next claim.
 */
const maxHoldMs = 2_000

/** Notes that unseen messages have refused a strict unit. `mail`: the mail counter. */
export function noteRefused(state: RunState, mail: number): void {
  state.refusals++
  if (state.refusals % refusalsPerHold === 0) hold(state)
  else state.mailbox.learn(mail)
}

function hold(state: RunState): void {
  const { services, log, mailbox } = state
  state.isHolding = true
  const resume = (mail: number | null): void => {
    state.isHolding = false
    if (state.isOver) return
    if (mail !== null) mailbox.learn(mail)
    state.ready()
  }
  services.store.mail
    .hold(services.worker, state.key, log.epoch, maxHoldMs)
    .then(resume, (error: unknown) => {
      services.logger.warn(`Run "${state.id}" could not hold messages back; retrying`, { error })
      resume(null)
    })
}

/** Ends a hold when its unit is written. The end of a run ends it too. */
export function noteWritten(state: RunState, { next, epoch }: Unit): void {
  const hasHeld = state.refusals >= refusalsPerHold
  state.refusals = 0
  if (!hasHeld || next.do !== 'keep') return
  const { store, worker } = state.services
  // Otherwise it ends with its time.
  store.mail.hold(worker, state.key, epoch, 0).catch(() => {})
}
