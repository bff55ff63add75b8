import type { RunKey, RunSurvey } from '@pawl/core/storage'
import type { Tables } from '../tables.ts'
import { readStatus } from './run-list.ts'

export function survey(
  { runs, runsByKey, workers }: Tables,
  run: RunKey,
  id: string,
  limit: number,
  now: number,
): RunSurvey {
  const children = { running: 0, waiting: 0, completed: 0, failed: 0, cancelled: 0, stuck: 0, quarantined: 0 }
  const found = [...runs.values()].filter(({ parent }) => parent?.run === id).sort((a, b) => b.run - a.run)
  for (const child of found.slice(0, limit)) children[readStatus(child, now)]++
  const owner = workers.get(runsByKey.get(run)?.worker ?? 0)
  return {
    owner: owner === undefined ? null : { name: owner.name, beatAt: owner.beatAt, leaseMs: owner.leaseMs },
    children,
  }
}
