import { signal } from '@preact/signals'

/** Whether the server answers. What is loaded stays on the screen without it. */
export const isOnline = signal(true)
/** Time of the last reply, by the clock of the server. */
export const lastReplyAt = signal(Date.now())
/** Milliseconds that the server's clock is ahead of this computer's. */
const clockOffset = signal(0)

// The header counts whole seconds, and the reply took a while.
const toleratedMs = 5_000

/** Ticks every 15 s, so that ages and deadlines on the screen stay true. */
const tick = signal(0)
setInterval(() => {
  tick.value += 1
}, 15_000)

addEventListener('offline', noteSilence)

export function noteReply(reply: Response): void {
  const at = Date.parse(reply.headers.get('date') ?? '')
  const offset = at - Date.now()
  clockOffset.value = Math.abs(offset) > toleratedMs ? offset : 0
  isOnline.value = true
  lastReplyAt.value = Date.now() + clockOffset.value
}

export function noteSilence(): void {
  isOnline.value = false
}

/** The present instant by the server's clock, in ms. A component that calls it renders again with every tick. */
export function serverNow(): number {
  return tick.value * 0 + Date.now() + clockOffset.value
}
