import { computed, signal } from '@preact/signals'

/** Whether the server answers. What is loaded stays on the screen without it. */
export const isOnline = signal(true)
/** Time of the last reply, by the clock of the server. */
export const lastReplyAt = signal(Date.now())
/** Milliseconds that the server's clock is ahead of this computer's. */
const clockOffset = signal(0)

// The header counts whole seconds, and the reply took a while.
const toleratedMs = 5_000

/** Ages and deadlines on the screen stay true: those below a minute change every second, others every 15 s. */
const seconds = signal(0)
const tick = computed(() => Math.floor(seconds.value / 15))
setInterval(() => {
  seconds.value += 1
}, 1_000)

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

/** The time since an instant of the server, in ms: negative until it comes. A component that calls it renders again whenever its words change. */
export function sinceServerTime(at: number): number {
  const now = Date.now() + clockOffset.value
  return now - at + (Math.abs(now - at) < 60_000 ? seconds.value : tick.value) * 0
}
