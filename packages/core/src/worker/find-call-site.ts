import { noPosition } from '../events/event.ts'
import { LogHash } from '../events/seal.ts'
import { captureCallSite } from '../host/call-site.ts'
import { drain } from '../host/drain.ts'
import type { RunKey } from '../ports/store.ts'
import { createExecution } from './create-execution.ts'
import { LogReader } from './log-reader.ts'
import type { Surroundings } from './run-host.ts'
import type { Start } from './start.ts'

/** A run whose log can be replayed once more. */
export interface Replayed {
  readonly id: string
  readonly key: RunKey
  readonly start: Start
  readonly head: number
}

/**
 * Where today's code issues the operation of that position: the log is replayed once more to see it. Empty
 * where that cannot be told.
 */
export async function findCallSite(
  surroundings: Surroundings,
  run: Replayed,
  position: number,
): Promise<string> {
  if (position === noPosition) return ''
  let site = ''
  const execution = createExecution({
    ...{
      surroundings,
      runId: run.id,
      start: run.start,
      isReplaying: () => true,
      isLoaded: () => false,
      onForeign: () => {},
    },
    onIssue: (issued) => {
      if (issued === position) site = captureCallSite() ?? ''
    },
  })
  try {
    const { store, sha256 } = surroundings
    for await (const page of new LogReader(store, run.key, run.head, new LogHash(sha256)).pages()) {
      execution.enqueue(page)
      await new Promise<void>((resolve) => drain(execution, resolve))
      if (site !== '' || execution.needsGrace) break
    }
  } catch (error) {
    surroundings.logger.warn(`Run "${run.id}" could not be replayed to find the call site`, { error })
  }
  return site
}
