import type { Message, RunKey, WorkerKey } from '@pawl/core/storage'
import type { Tables } from '../tables.ts'

export function readMail({ runsByKey }: Tables, run: RunKey, after: number): readonly Message[] {
  const messages = runsByKey.get(run)?.messages ?? []
  return messages
    .slice(after)
    .filter(({ isUsed }) => !isUsed)
    .map(({ n, at, kind, name, by, payload }) => ({ n, at, kind, name, by, payload }))
}

/** Returns the reply to the message with this key; null while there is none. */
export function readReply({ runsByKey }: Tables, run: RunKey, key: string): Uint8Array | null {
  const message = runsByKey.get(run)?.messages.find((one) => one.key === key)
  return message?.isUsed === true ? message.payload : null
}

export function readMailOf(
  { runs }: Tables,
  worker: WorkerKey,
): readonly { readonly run: RunKey; readonly mail: number }[] {
  const owned = [...runs.values()].filter((run) => run.worker === worker)
  return owned.map(({ run, mail }) => ({ run, mail }))
}
