import { signal } from '@preact/signals'
import { urlOf } from '../api/request.ts'
import { follow } from './stream.ts'

/** An event on the server, without its data: a screen fetches what it shows. */
export interface Bell {
  /** `reset`: anything may have happened. */
  readonly event:
    | 'ask.opened'
    | 'ask.closed'
    | 'notice'
    | 'run.ended'
    | 'run.stuck'
    | 'run.quarantined'
    | 'reset'
  readonly ask?: string
  readonly run?: string
}

/** Whether live events arrive. Otherwise screens poll. */
export const isLive = signal(false)

const anything: Bell = { event: 'reset' }
/** A tab that leads tells the others at least every 15 s that it does. */
const silentMs = 45_000
const listeners = new Set<(bell: Bell) => void>()

/** Returns the function that ends it. */
export function onBell(listener: (bell: Bell) => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function ring(bell: Bell): void {
  for (const listener of [...listeners]) listener(bell)
}

/** A message from the tab that reads the stream to the others. */
type Message = { readonly bell: Bell } | { readonly isLive: boolean } | 'who leads?'

/**
 * Rings for what happens on the server, while the page is visible. A browser has six connections to a server, so of all
 * its tabs only one reads the stream, and tells the others.
 */
export function startFeed(actor: string): () => void {
  const name = `pawl ${urlOf('')} ${actor}`
  const channel = new BroadcastChannel(name)
  let leave: (() => void) | null = null
  let isLeading = false
  let alarm: ReturnType<typeof setTimeout> | undefined

  const setLive = (value: boolean) => {
    isLive.value = value
    clearTimeout(alarm)
    if (value && !isLeading) alarm = setTimeout(() => setLive(false), silentMs)
  }
  const tell = (message: Message) => channel.postMessage(message)
  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data === 'who leads?') {
      if (isLeading) tell({ isLive: isLive.value })
    } else if (isLeading || leave === null) return
    else if ('bell' in data) ring(data.bell)
    else setLive(data.isLive)
  }
  const lead = (): (() => void) => {
    isLeading = true
    const stop = follow('/v1/events', {
      onFrame: ({ event, data }) => {
        // The first message of a connection has no data. Earlier events were not reported.
        const bell = data === '' ? anything : ({ ...JSON.parse(data), event } as Bell)
        ring(bell)
        tell({ bell })
      },
      onLive: (value) => {
        if (!isLeading) return
        setLive(value)
        tell({ isLive: value })
      },
      onSound: () => tell({ isLive: isLive.value }),
    })
    return () => {
      isLeading = false
      stop()
      setLive(false)
    }
  }
  const join = () => {
    if (leave !== null) return
    tell('who leads?')
    leave = whileFirst(name, lead)
  }
  const change = () => {
    if (document.visibilityState === 'visible') return join()
    leave?.()
    leave = null
    setLive(false)
  }
  document.addEventListener('visibilitychange', change)
  change()
  return () => {
    document.removeEventListener('visibilitychange', change)
    leave?.()
    leave = null
    setLive(false)
    channel.close()
  }
}

/** Calls `lead` once this tab is the first in line, and what it returns when it leaves the line. */
function whileFirst(name: string, lead: () => () => void): () => void {
  // Browsers have no locks on a page that is loaded over http from another host: each tab leads there.
  if (navigator.locks === undefined) return lead()
  const leaving = new AbortController()
  const { signal } = leaving
  const wait = async () => {
    if (signal.aborted) return
    const stop = lead()
    await new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve())
    })
    stop()
  }
  navigator.locks.request(name, { signal }, wait).catch(() => {})
  return () => leaving.abort()
}
