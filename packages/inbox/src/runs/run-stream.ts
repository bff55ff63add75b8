import { useEffect, useState } from 'preact/hooks'
import { segment } from '../api/calls.ts'
import { follow } from '../live/stream.ts'

/** Calls `onEvent` for each event of a run while the page is visible. Returns whether events arrive. */
export function useRunStream(id: string, isOver: boolean, onEvent: () => void): boolean {
  const [isLive, setLive] = useState(false)
  useEffect(() => {
    if (isOver) return
    let stop: (() => void) | null = null
    const change = () => {
      const isVisible = document.visibilityState === 'visible'
      if (isVisible)
        stop ??= follow(`/v1/runs/${segment(id)}/events?from=now`, { onFrame: onEvent, onLive: setLive })
      else {
        stop?.()
        stop = null
      }
    }
    change()
    document.addEventListener('visibilitychange', change)
    return () => {
      document.removeEventListener('visibilitychange', change)
      stop?.()
    }
  }, [id, isOver])
  return isLive
}
