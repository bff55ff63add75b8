import type { Message, RunKey, WorkerKey } from '@pawl/core/storage'
import type { Tables } from '../tables.ts'

export function readMail({ runsByKey }: Tables, run: RunKey, after: number): readonly Message[] {
  const messages = runsByKey.get(run)?.messages ?? []
  return messages
    .slice(after)
    .filter(({ isUsed }) => !isUsed)
    .map(({ n, at, kind, name, payload }) => ({ n, at, kind, name, payload }))
}

export function readMailOf(
  { runs }: Tables,
  worker: WorkerKey,
): readonly { readonly run: RunKey; readonly mail: number }[] {
  const owned = [...runs.values()].filter((run) => run.worker === worker)
  return owned.map(({ run, mail }) => ({ run, mail }))
}
