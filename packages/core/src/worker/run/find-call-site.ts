import { noPosition } from '../../events/event.ts'
import { captureCallSite } from '../../host/call-site.ts'
import type { ProgramServices } from '../services.ts'
import { Branches, type Marks } from './branches.ts'
import { createExecution, replayOnly } from './create-execution.ts'
import { ReadFailed } from './log-reader.ts'
import { deliverPage, type LogSource } from './replay-log.ts'
import type { Start } from './start.ts'

/** A run whose log can be replayed again. */
export interface Replayed {
  readonly id: string
  readonly start: Start
  readonly log: LogSource
  /** The branches of the run. */
  readonly marks: Marks
}

/**
 * Replays the log to find where the current code issues the operation at a position. Returns '' if that is unknown.
 */
export async function findCallSite(
  services: ProgramServices,
  run: Replayed,
  position: number,
): Promise<string> {
  if (position === noPosition) return ''
  let site = ''
  const execution = createExecution({
    services,
    runId: run.id,
    start: run.start,
    branches: new Branches(run.marks),
    host: replayOnly,
    onIssue: (issued) => {
      if (issued === position) site = captureCallSite() ?? ''
    },
  })
  try {
    for await (const page of run.log.pages()) {
      await deliverPage(execution, page, run.log)
      if (site !== '' || execution.needsGrace) break
    }
  } catch (thrown) {
    const error = thrown instanceof ReadFailed ? thrown.cause : thrown
    services.logger.warn(`Run "${run.id}" could not be replayed to find the call site`, { error })
  }
  return site
}
