import type { LocalWorker } from '../../ports/local-worker.ts'
import type { NewMessage } from '../../ports/store/mail.ts'
import type { StorePort } from '../../ports/store/store.ts'

/** A message to be stored. */
export interface Outgoing {
  readonly message: NewMessage
  /** Set for a signal whose sender did not have the procedure, and so did not know the declared names. */
  readonly isUnchecked: boolean
}

/** A signal that the procedure of its run does not declare. */
export interface Undeclared {
  readonly outcome: 'undeclared'
  readonly procedure: string
  readonly signals: readonly string[]
}

/** Finds the unchecked signals that the code of this process does not declare. */
export async function findUndeclared(
  outgoing: readonly Outgoing[],
  store: StorePort,
  localWorker: Pick<LocalWorker, 'signalsOf'>,
): Promise<ReadonlyMap<Outgoing, Undeclared>> {
  const found = new Map<Outgoing, Undeclared>()
  const unchecked = outgoing.filter(({ isUnchecked }) => isUnchecked)
  const runs = [...new Set(unchecked.map(({ message }) => message.run))]
  const rows = new Map(await Promise.all(runs.map(async (run) => [run, await store.find(run)] as const)))
  for (const one of unchecked) {
    const row = rows.get(one.message.run)
    if (row === undefined || row === null || row.version === null) continue
    const { procedure, version } = row
    const signals = localWorker.signalsOf(procedure, version)
    if (signals?.includes(one.message.name) === false)
      found.set(one, { outcome: 'undeclared', procedure, signals })
  }
  return found
}
