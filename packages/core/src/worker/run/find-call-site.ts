import { noPosition } from '../../events/event.ts'
import { captureCallSite } from '../../host/call-site.ts'
import { drain } from '../../host/drain.ts'
import type { Surroundings } from '../services.ts'
import { createExecution } from './create-execution.ts'
import { ReadFailed } from './log-reader.ts'
import type { LogEnd } from './log-writer.ts'
import type { Start } from './start.ts'

/** A run whose log can be replayed once more. */
export interface Replayed {
  readonly id: string
  readonly start: Start
  readonly log: LogEnd
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
    for await (const page of run.log.pages()) {
      execution.enqueue(page)
      await new Promise<void>((resolve) => drain(execution, resolve))
      if (site !== '' || execution.needsGrace) break
    }
  } catch (thrown) {
    const error = thrown instanceof ReadFailed ? thrown.cause : thrown
    surroundings.logger.warn(`Run "${run.id}" could not be replayed to find the call site`, { error })
  }
  return site
}
