import { setTimeout as wait } from 'node:timers/promises'
import { ServerError } from '../http/problem.ts'

/** One message of a stream of server-sent events. */
export interface Frame {
  /** Its number; the reader sends the last one it saw as `Last-Event-ID`. */
  readonly id?: number
  /** Name of the event. Default: 'message'. */
  readonly event?: string
  /** Without data, only the number is noted: the reader is told of no event. */
  readonly data?: object
}

/** Reads frames until there are no more, or the signal aborts. */
export type Frames = (signal: AbortSignal) => AsyncIterable<Frame>

/** Times of streams, in ms. */
export interface StreamTiming {
  /** Between two comments that keep proxies from closing the connection. */
  readonly pingMs: number
  /** After which a stream ends, so that the reader connects again and its rights are checked anew. */
  readonly lifeMs: number
  /** Of the first and of the longest wait for news. */
  readonly pollMs: readonly [number, number]
}

export const usualTiming: StreamTiming = { pingMs: 15_000, lifeMs: 900_000, pollMs: [250, 2_000] }

/** A reader that leaves this much unread from one ping to the next is cut off. It resumes by number. */
const maxUnread = 1024 * 1024

const headers: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  // nginx buffers replies unless it is told not to.
  'x-accel-buffering': 'no',
}

/** The reply to a request for a stream that has nothing to send. With 200, a browser would connect again for ever. */
export function noStream(isHead: boolean): Response {
  return new Response(null, isHead ? { headers } : { status: 204 })
}

/** Sends frames as fast as they are read. `onEnd` is called once, however the stream ends. */
export function eventStream(
  frames: Frames,
  signal: AbortSignal,
  timing: StreamTiming,
  onEnd: (error?: unknown) => void,
): Response {
  const ended = new AbortController()
  const encoder = new TextEncoder()
  let onRoom = (): void => {}
  let wasFull = false
  let release = (_error?: unknown): boolean => false
  let stop = (_error?: unknown): void => {}

  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const ping = setInterval(() => {
          const isFull = (controller.desiredSize ?? 0) <= 0
          if (isFull && wasFull)
            return stop(new ServerError('too-many', 'The reader of the stream fell behind.'))
          wasFull = isFull
          if (!isFull) send(': ping\n\n')
        }, timing.pingMs)
        const life = setTimeout(() => stop(), timing.lifeMs)
        const onAbort = (): void => stop()
        const send = (text: string): void => controller.enqueue(encoder.encode(text))
        release = (error) => {
          if (ended.signal.aborted) return false
          ended.abort()
          clearInterval(ping)
          clearTimeout(life)
          signal.removeEventListener('abort', onAbort)
          onRoom()
          onEnd(error)
          return true
        }
        stop = (error) => {
          if (!release(error)) return
          if (error === undefined) controller.close()
          else controller.error(error)
        }
        send('retry: 2000\n\n')
        if (signal.aborted) return stop()
        signal.addEventListener('abort', onAbort)
        void pump(controller, send)
      },
      pull: () => onRoom(),
      // The reader has gone, and the stream is closed already.
      cancel: () => void release(),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: maxUnread }),
  )

  async function pump(
    controller: ReadableStreamDefaultController,
    send: (text: string) => void,
  ): Promise<void> {
    try {
      for await (const frame of frames(ended.signal)) {
        while (!ended.signal.aborted && (controller.desiredSize ?? 0) <= 0)
          await new Promise<void>((resolve) => {
            onRoom = resolve
          })
        if (ended.signal.aborted) return
        send(writeFrame(frame))
      }
      stop()
    } catch (error) {
      stop(error)
    }
  }

  return new Response(body, { headers })
}

/** JSON has no line breaks, so the data is one line. */
function writeFrame({ id, event, data }: Frame): string {
  const lines = [
    ...(id === undefined ? [] : [`id: ${id}`]),
    ...(event === undefined ? [] : [`event: ${event}`]),
    ...(data === undefined ? [] : [`data: ${JSON.stringify(data)}`]),
  ]
  return `${lines.join('\n')}\n\n`
}

/** Waits for news: longer each time there are none. */
export class Poll {
  readonly #range: StreamTiming['pollMs']
  #next: number

  constructor(range: StreamTiming['pollMs']) {
    this.#range = range
    this.#next = range[0]
  }

  found(): void {
    this.#next = this.#range[0]
  }

  async pause(signal: AbortSignal): Promise<void> {
    const ms = this.#next
    this.#next = Math.min(ms * 1.5, this.#range[1])
    await wait(ms, undefined, { signal, ref: false }).catch(() => {})
  }
}
