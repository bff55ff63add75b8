import type { Clock } from '../ports/clock.ts'
import { clearTimeoutNative, dateNow, performanceNow, setTimeoutNative } from './natives.ts'

/** Node's timers are limited to 31 bits of milliseconds and fire at once beyond; longer waits are split. */
const maxSliceMs = 2 ** 30

/** The clock of this process. A wait keeps the process alive: a worker runs until it is stopped. */
export const systemClock: Clock = {
  elapsed: performanceNow,
  wall: dateNow,
  after(ms, callback) {
    const until = performanceNow() + ms
    let timer = arm()
    function arm(): NodeJS.Timeout {
      const left = until - performanceNow()
      return setTimeoutNative(left > maxSliceMs ? again : callback, Math.max(0, Math.min(left, maxSliceMs)))
    }
    function again(): void {
      timer = arm()
    }
    return () => clearTimeoutNative(timer)
  },
}
