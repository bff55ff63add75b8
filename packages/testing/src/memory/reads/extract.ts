import type { RunExtract } from '@pawl/core/storage'
import { noticesOf } from '../notices.ts'
import type { Tables } from '../tables.ts'
import { showAsk } from './asks.ts'
import { listCheckpoints } from './checkpoints.ts'
import { showRun } from './runs.ts'
import { readStates } from './states.ts'

export function extractRun(tables: Tables, id: string): RunExtract | null {
  const run = tables.runs.get(id)
  if (!run) return null
  const newestFirst = listCheckpoints(tables, { run: run.run, until: null, before: null, limit: Infinity })
  return {
    row: showRun(run),
    messages: run.messages.map(({ isUsed, ...message }) => ({ ...message, used: isUsed })),
    asks: [...run.asks.values()].sort((a, b) => a.position - b.position).map(showAsk),
    states: readStates(tables, run.run, null),
    notices: noticesOf(run),
    checkpoints: newestFirst.toReversed().map(({ slot, position, seq, at, name, payload }) => ({
      ...{ slot, position, seq, at, name, payload },
    })),
  }
}
