const listeners = new Set<() => void>()
const tickMs = 5_000
const sleptMs = 30_000

/**
 * Calls `listener` when the page may have missed something: it becomes visible, the network comes back, the browser
 * resumes it, or the computer slept. Returns the function that ends it.
 */
export function onWake(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function wake(): void {
  if (document.visibilityState === 'visible') for (const listener of [...listeners]) listener()
}

document.addEventListener('visibilitychange', wake)
document.addEventListener('resume', wake)
addEventListener('online', wake)
// A page from the back-forward cache has lost its connections.
addEventListener('pageshow', (event) => event.persisted && wake())

// While a computer sleeps, no timer runs and no event reaches the page.
let last = Date.now()
setInterval(() => {
  const now = Date.now()
  if (now - last > sleptMs) wake()
  last = now
}, tickMs)
