import { useEffect } from 'preact/hooks'

const everyMs = 5_000

/**
 * Calls `load` now and every five seconds while the page is visible, and at once when it becomes visible or online again. A call
 * that is still under way is not repeated.
 */
export function usePoll(load: () => Promise<void>, keys: readonly unknown[]): void {
  useEffect(() => {
    let isActive = true
    let isLoading = false
    const run = async () => {
      if (!isActive || isLoading || document.visibilityState !== 'visible') return
      isLoading = true
      try {
        await load()
      } finally {
        isLoading = false
      }
    }
    const poll = () => void run()
    poll()
    const timer = setInterval(poll, everyMs)
    document.addEventListener('visibilitychange', poll)
    addEventListener('online', poll)
    return () => {
      isActive = false
      clearInterval(timer)
      document.removeEventListener('visibilitychange', poll)
      removeEventListener('online', poll)
    }
  }, keys)
}
