import type { AskRow } from '@pawl/core/storage'
import type { AskRecord } from '../tables.ts'

export function showAsk(ask: AskRecord): AskRow {
  const { id, run, procedure, startedBy } = ask.run
  return { ...ask, run: id, runKey: run, procedure, startedBy }
}
