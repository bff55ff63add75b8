import { setTimeout as wait } from 'node:timers/promises'
import { CommandError } from './problem.ts'

/** One message of a stream of server-sent events. */
export interface Frame {
  readonly id?: string
  readonly event?: string
  readonly data: unknown
}

/** Before a lost stream is opened again, in ms. */
const retryMs = 2_000

/** Opens a stream after the frame with that number. */
type Open = (after: string | undefined) => Promise<Response>

/**
 * Reads frames until the server has no more, or `signal` aborts. A stream that breaks off is opened again after the last frame.
 * @throws CommandError if the stream cannot be opened the first time, or is refused later
 */
export async function* followFrames(open: Open, signal: AbortSignal): AsyncGenerator<Frame> {
  let last: string | undefined
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    let reply: Response | undefined
    try {
      reply = await open(last)
    } catch (error) {
      if (signal.aborted) return
      if (isFirst || !isPassing(error)) throw error
    }
    if (reply?.status === 204) return
    if (reply?.body) {
      try {
        for await (const frame of readFrames(reply.body, signal)) {
          if (frame.id !== undefined) last = frame.id
          if (frame.data !== undefined) yield frame
        }
        // The server ends its streams from time to time. Status 204 means that the run has ended.
        continue
      } catch (error) {
        if (signal.aborted) return
        if (error instanceof CommandError) throw error
      }
    }
    await wait(retryMs, undefined, { signal }).catch(() => {})
  }
}

/** Whether a server that restarts, or is busy, may have caused it. */
function isPassing(error: unknown): boolean {
  return error instanceof CommandError && [429, 502, 503, 504].includes(error.problem.status)
}

async function* readFrames(body: ReadableStream<Uint8Array>, signal: AbortSignal): AsyncGenerator<Frame> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const part of readUntil(body, signal)) {
    const blocks = (rest + decoder.decode(part, { stream: true })).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) yield parseFrame(block)
  }
}

/**
 * Reads the parts of a body until `signal` aborts. Cancels the body itself: Node 20 never settles a read of a body whose request is
 * aborted between two reads while the server ends it.
 */
async function* readUntil(body: ReadableStream<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const reader = body.getReader()
  const cancel = (): void => void reader.cancel().catch(() => {})
  signal.addEventListener('abort', cancel)
  try {
    while (!signal.aborted) {
      const { value, done } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    signal.removeEventListener('abort', cancel)
    cancel()
  }
}

function parseFrame(block: string): Frame {
  const fields = new Map<string, string>()
  for (const line of block.split('\n')) {
    const at = line.indexOf(': ')
    if (at > 0) fields.set(line.slice(0, at), line.slice(at + 2))
  }
  const [id, event, data] = [fields.get('id'), fields.get('event'), fields.get('data')]
  return {
    ...(id === undefined ? {} : { id }),
    ...(event === undefined ? {} : { event }),
    data: data === undefined ? undefined : (JSON.parse(data) as unknown),
  }
}
