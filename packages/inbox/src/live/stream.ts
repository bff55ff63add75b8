import { noteReply, noteSilence } from '../api/connection.ts'
import { urlOf } from '../api/request.ts'
import { onWake } from './wake.ts'

/** One message of a stream. */
export interface Frame {
  readonly event: string
  readonly data: string
}

/** The server sends at least a comment every 15 s. A stream that is silent for longer is cut off somewhere. */
const silentMs = 45_000
const firstRetryMs = 2_000
const longestRetryMs = 30_000

interface Reader {
  readonly onFrame: (frame: Frame) => void
  /** Called with true at the first message of a connection, and with false when nothing more is to be expected of it. */
  readonly onLive: (isLive: boolean) => void
  /** Called for everything that arrives, including comments. */
  readonly onSound?: () => void
}

/**
 * Follows a stream of server-sent events until the returned function is called, over as many connections as it takes.
 * Reads with `fetch`, since an EventSource does not report comments. Without them a stream that a proxy holds back looks
 * idle.
 */
export function follow(path: string, reader: Reader): () => void {
  let isStopped = false
  let connection = new AbortController()
  let isHurried = false
  let skipPause = (): void => {}
  const loop = async () => {
    for (let failures = 0; !isStopped; ) {
      connection = new AbortController()
      const end = await readOnce(path, reader, connection)
      if (end === 'over' || isStopped) break
      // The server ends a stream after a while, so that rights are checked anew: that is no failure.
      failures = end === 'ended' ? 0 : failures + 1
      if (failures > 0) reader.onLive(false)
      if (isHurried) {
        isHurried = false
        failures = 0
        continue
      }
      const wait = failures === 0 ? 100 : Math.min(longestRetryMs, firstRetryMs * 2 ** (failures - 1))
      await new Promise<void>((resolve) => {
        skipPause = resolve
        setTimeout(resolve, wait)
      })
      isHurried = false
    }
    reader.onLive(false)
  }
  const again = () => {
    isHurried = true
    connection.abort()
    skipPause()
  }
  const unlisten = onWake(again)
  void loop()
  return () => {
    isStopped = true
    unlisten()
    again()
  }
}

type End = 'ended' | 'failed' | 'over'

async function readOnce(path: string, reader: Reader, connection: AbortController): Promise<End> {
  let alarm: ReturnType<typeof setTimeout> | undefined
  const listen = () => {
    clearTimeout(alarm)
    alarm = setTimeout(() => {
      reader.onLive(false)
      connection.abort()
    }, silentMs)
  }
  listen()
  let hasSpoken = false
  try {
    const reply = await fetch(urlOf(path), {
      credentials: 'same-origin',
      headers: { accept: 'text/event-stream' },
      signal: connection.signal,
    })
    noteReply(reply)
    if (reply.status === 204 || reply.status === 401 || reply.status === 404) return 'over'
    if (!reply.ok || reply.body === null) return 'failed'
    const parse = parser((frame) => {
      if (!hasSpoken) reader.onLive(true)
      hasSpoken = true
      reader.onFrame(frame)
    })
    const chunks = reply.body.pipeThrough(new TextDecoderStream()).getReader()
    for (;;) {
      const { done, value } = await chunks.read()
      if (done) return hasSpoken ? 'ended' : 'failed'
      listen()
      reader.onSound?.()
      parse(value)
    }
  } catch {
    if (!connection.signal.aborted) noteSilence()
    return 'failed'
  } finally {
    clearTimeout(alarm)
  }
}

/** Cuts a stream into its messages. Comments are none. */
function parser(onFrame: (frame: Frame) => void): (text: string) => void {
  let rest = ''
  return (text) => {
    const parts = (rest + text).split('\n\n')
    rest = parts.pop() ?? ''
    for (const part of parts) {
      let event = 'message'
      const data: string[] = []
      let isMessage = false
      for (const line of part.split('\n')) {
        const [, name, value = ''] = /^(\w+): ?(.*)$/.exec(line) ?? []
        if (name === 'event') event = value
        if (name === 'data') data.push(value)
        if (name === 'id' || name === 'data') isMessage = true
      }
      if (isMessage) onFrame({ event, data: data.join('\n') })
    }
  }
}
