import { setTimeout as wait } from 'node:timers/promises'
import { ServerError } from '../http/problem.ts'

/** One message of a stream of server-sent events. */
export interface Frame {
  /** Its number; the reader sends the last one it saw as `Last-Event-ID`. */
  readonly id?: number
  /** Name of the event. Default: 'message'. */
  readonly event?: string
  /** The data. Without it, the reader notes the number and gets no event. */
  readonly data?: object
}

/** Reads frames until there are no more, or the signal aborts. */
export type Frames = (signal: AbortSignal) => AsyncIterable<Frame>

/** Times of streams, in ms. */
export interface StreamTiming {
  /** Interval of the comments that keep proxies from closing the connection. */
  readonly pingMs: number
  /** Time after which a stream ends, so that the reader connects again and its rights are checked anew. */
  readonly lifeMs: number
  /** The first and the longest poll interval. */
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
  let open: OpenStream
  const body = new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        open = new OpenStream(controller, signal, timing, onEnd)
        if (signal.aborted) open.stop()
        else void open.pump(frames)
      },
      pull: () => open.noteRoom(),
      // The reader has gone, and the stream is closed already.
      cancel: () => void open.release(),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: maxUnread }),
  )
  return new Response(body, { headers })
}

/** A stream until it ends: what it sends, and the timers and listeners that it releases. */
class OpenStream {
  readonly #controller: ReadableStreamDefaultController<Uint8Array>
  readonly #signal: AbortSignal
  readonly #onEnd: (error?: unknown) => void
  readonly #ended = new AbortController()
  readonly #encoder = new TextEncoder()
  readonly #ping: NodeJS.Timeout
  readonly #life: NodeJS.Timeout
  readonly #onAbort = (): void => this.stop()
  #onRoom = (): void => {}
  #wasFull = false

  constructor(
    controller: ReadableStreamDefaultController<Uint8Array>,
    signal: AbortSignal,
    timing: StreamTiming,
    onEnd: (error?: unknown) => void,
  ) {
    this.#controller = controller
    this.#signal = signal
    this.#onEnd = onEnd
    this.#ping = setInterval(() => this.#sendPing(), timing.pingMs)
    this.#life = setTimeout(() => this.stop(), timing.lifeMs)
    signal.addEventListener('abort', this.#onAbort)
    this.#send('retry: 2000\n\n')
  }

  /** Sends frames until there are no more, or the stream ends. */
  async pump(frames: Frames): Promise<void> {
    const ended = this.#ended.signal
    try {
      for await (const frame of frames(ended)) {
        while (!ended.aborted && this.#isFull) await this.#room()
        if (ended.aborted) return
        this.#send(writeFrame(frame))
      }
      this.stop()
    } catch (error) {
      this.stop(error)
    }
  }

  /** The reader has read. */
  noteRoom(): void {
    this.#onRoom()
  }

  stop(error?: unknown): void {
    if (!this.release(error)) return
    if (error === undefined) this.#controller.close()
    else this.#controller.error(error)
  }

  /** Returns whether the stream was open until now. */
  release(error?: unknown): boolean {
    if (this.#ended.signal.aborted) return false
    this.#ended.abort()
    clearInterval(this.#ping)
    clearTimeout(this.#life)
    this.#signal.removeEventListener('abort', this.#onAbort)
    this.#onRoom()
    this.#onEnd(error)
    return true
  }

  get #isFull(): boolean {
    return (this.#controller.desiredSize ?? 0) <= 0
  }

  #room(): Promise<void> {
    return new Promise((resolve) => {
      this.#onRoom = resolve
    })
  }

  #sendPing(): void {
    const wasFull = this.#wasFull
    this.#wasFull = this.#isFull
    if (!this.#wasFull) this.#send(': ping\n\n')
    else if (wasFull) this.stop(new ServerError('too-many', 'The reader of the stream fell behind.'))
  }

  #send(text: string): void {
    this.#controller.enqueue(this.#encoder.encode(text))
  }
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
