import type { Backlog } from '@pawl/core/storage'
import { isDue } from '../ownership.ts'
import { compareDue, type Tables } from '../tables.ts'

export function readBacklog({ runs }: Tables, now: number): readonly Backlog[] {
  const due = [...runs.values()].filter((run) => isDue(run, now)).sort(compareDue)
  const kinds = new Map<string, Backlog>()
  for (const { id, procedure, version } of due) {
    const key = JSON.stringify([procedure, version])
    const { oldest, count } = kinds.get(key) ?? { oldest: id, count: 0 }
    kinds.set(key, { procedure, version, oldest, count: Math.min(count + 1, 1_000) })
  }
  return [...kinds.values()]
}
