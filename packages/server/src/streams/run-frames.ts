import type { Client, RunView } from '@pawl/core'
import { readEvents } from '@pawl/core/internal'
import { writePayload } from '../json/payload.ts'
import type { RunEventJson } from '../json/shapes.ts'
import { type Frame, type Frames, Poll, type StreamTiming } from './event-stream.ts'

const batch = 100

/** The events of a run with a `seq` above `after`: those in the log, and then each as it is recorded, until the run ends. */
export function runFrames(client: Client, run: string, after: number, timing: StreamTiming): Frames {
  return async function* frames(signal): AsyncGenerator<Frame> {
    const poll = new Poll(timing.pollMs)
    for (let seq = after; !signal.aborted; ) {
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
export async function isOver(client: Client, run: string, after: number): Promise<boolean> {
  const { run: view, events } = await readEvents(client, run, after, 1)
  return events.length === 0 && hasEnded(view)
}

function showEvent({
  seq,
  at,
  type,
  entry,
}: Awaited<ReturnType<typeof readEvents>>['events'][number]): RunEventJson {
  return {
    ...{ seq, at: at.toISOString(), type },
    ...(entry === undefined ? {} : { entry: { ...entry, result: writePayload(entry.result) } }),
  }
}

function hasEnded({ status }: RunView): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled'
}
