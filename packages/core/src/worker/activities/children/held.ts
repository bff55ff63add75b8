import type { Clock } from '../../../ports/clock.ts'

/** After what time a message is sent again to a run that holds messages back. A hold always ends, so this is not bounded. */
const heldMs = 100

/** Resolves when it is time to send a message again that its run has held back. */
export function untilTaken(clock: Clock): Promise<void> {
  return new Promise((resolve) => clock.after(heldMs, resolve))
}
