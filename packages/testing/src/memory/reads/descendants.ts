import type { Tables } from '../tables.ts'

export function countDescendants({ runs }: Tables, id: string, limit: number): number {
  const family = new Set([id])
  // A run is behind the run that created it.
  for (const run of runs.values()) {
    if (family.size > limit) break
    if (run.parent !== null && family.has(run.parent.run)) family.add(run.id)
  }
  return family.size - 1
}
