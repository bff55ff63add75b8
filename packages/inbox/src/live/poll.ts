import { useEffect, useRef } from 'preact/hooks'
import { type Bell, isLive, onBell } from './feed.ts'
import { onWake } from './wake.ts'

const pollMs = 5_000
/** Minimum time between two calls due to live events. Many events at once cause one call. */
const calmMs = 1_000

interface Live {
  /** Whether a live event concerns the loaded data. Default: no event does. */
  readonly hears?: (bell: Bell) => boolean
  /** Poll interval while live events arrive, in ms. Default: 60,000. */
  readonly liveMs?: () => number
}

/**
 * Calls `load` now, for each bell that concerns it, and when the page wakes up; every five seconds if no bells arrive. A page that is
 * not visible calls nothing. A call that is still under way is not repeated, but another one follows it.
 */
export function useLive(load: () => Promise<void>, keys: readonly unknown[], live: Live = {}): () => void {
  const latest = useRef({ load, ...live })
  latest.current = { load, ...live }
  const again = useRef(() => {})
  useEffect(() => {
    let isActive = true
    let isLoading = false
    let isWanted = false
    let calm: ReturnType<typeof setTimeout> | undefined
    let lastAt = 0
    const run = async () => {
      isWanted = isLoading
      if (!isActive || isLoading || document.visibilityState !== 'visible') return
      isLoading = true
      lastAt = Date.now()
      try {
        await latest.current.load()
      } finally {
        isLoading = false
        if (isWanted) later()
      }
    }
    const later = () => {
      if (calm !== undefined || !isActive) return
      calm = setTimeout(
        () => {
          calm = undefined
          void run()
        },
        Math.min(calmMs, Math.max(0, lastAt + calmMs - Date.now())),
      )
    }
    again.current = later
    void run()
    const timer = setInterval(() => {
      const everyMs = isLive.value ? (latest.current.liveMs?.() ?? 60_000) : pollMs
      if (Math.abs(Date.now() - lastAt) >= everyMs) void run()
    }, pollMs)
    const unlisten = [
      onWake(() => void run()),
      onBell((bell) => {
        if (bell.event === 'reset' || latest.current.hears?.(bell)) later()
      }),
    ]
    return () => {
      isActive = false
      clearInterval(timer)
      clearTimeout(calm)
      for (const end of unlisten) end()
    }
  }, keys)
  return () => again.current()
}
