import type { Client } from '@pawl/core'
import { readEvents } from '@pawl/core/internal'
import { hasEnded } from '../json/ended.ts'
import type { RunEventJson } from '../json/shapes.ts'
import { showEntry } from '../json/views.ts'
import { type Frame, type Frames, Poll, type StreamTiming } from './event-stream.ts'

const batch = 100

/**
 * The events of a run with a `seq` above `after`: those in the log, and then each as it is recorded, until the run ends.
 * 'now' leaves out those in the log, and sends the number of the last one instead.
 */
export function runFrames(client: Client, run: string, after: number | 'now', timing: StreamTiming): Frames {
  return async function* frames(signal): AsyncGenerator<Frame> {
    const poll = new Poll(timing.pollMs)
    const from = after === 'now' ? await newestOf(client, run) : after
    if (after === 'now') yield { id: from }
    for (let seq = from; !signal.aborted; ) {
      const { run: view, events } = await readEvents(client, run, seq, batch)
      for (const event of events) {
        yield { id: event.seq, data: showEvent(event) }
        seq = event.seq
      }
      if (events.length > 0) poll.found()
      else if (hasEnded(view)) return
      else await poll.pause(signal)
    }
  }
}

/** Whether a reader that has seen event `after` has seen all there will ever be. */
export async function isOver(client: Client, run: string, after: number | 'now'): Promise<boolean> {
  const seen = after === 'now' ? Number.MAX_SAFE_INTEGER : after
  const { run: view, events } = await readEvents(client, run, seen, 1)
  return events.length === 0 && hasEnded(view)
}

async function newestOf(client: Client, run: string): Promise<number> {
  return (await readEvents(client, run, Number.MAX_SAFE_INTEGER, 1)).newest
}

function showEvent({
  seq,
  at,
  type,
  entry,
}: Awaited<ReturnType<typeof readEvents>>['events'][number]): RunEventJson {
  return {
    ...{ seq, at: at.toISOString(), type },
    ...(entry === undefined ? {} : { entry: showEntry(entry) }),
  }
}
