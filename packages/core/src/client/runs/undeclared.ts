import { canExecute } from '../../ports/abilities.ts'
import type { LocalWorker } from '../../ports/local-worker.ts'
import type { NewMessage } from '../../ports/store/mail.ts'
import type { StorePort } from '../../ports/store/store.ts'
import { readTelling, type Telling } from './telling.ts'

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

interface Declaring {
  readonly store: StorePort
  /** The worker of this process; undefined if it has none. */
  readonly localWorker: Pick<LocalWorker, 'signalsOf'> | undefined
  readonly declared: DeclaredSignals
}

/** Finds the unchecked signals that neither the code of this process nor a live worker declares. */
export async function findUndeclared(
  outgoing: readonly Outgoing[],
  { store, localWorker, declared }: Declaring,
): Promise<ReadonlyMap<Outgoing, Undeclared>> {
  const found = new Map<Outgoing, Undeclared>()
  const unchecked: Outgoing[] = []
  for (const one of outgoing) {
    const { isUnchecked, message } = one
    // Without code at hand, a name that a worker declares for any procedure is not looked into: that costs each signal a read.
    if (isUnchecked && (localWorker !== undefined || !(await declared.isKnown(store, message.name))))
      unchecked.push(one)
  }
  if (unchecked.length === 0) return found
  const runs = [...new Set(unchecked.map(({ message }) => message.run))]
  const rows = new Map(await Promise.all(runs.map(async (run) => [run, await store.runs.find(run)] as const)))
  for (const one of unchecked) {
    const row = rows.get(one.message.run)
    if (row === undefined || row === null || row.version === null) continue
    const { procedure, version } = row
    const { name } = one.message
    const local = localWorker?.signalsOf(procedure, version)
    const signals = local ?? (await declared.besides(store, { procedure, version, name }))
    if (signals?.includes(name) === false) found.set(one, { outcome: 'undeclared', procedure, signals })
  }
  return found
}

/** What the live workers declare. It is read anew only for a signal that was not declared when it was last read. */
export class DeclaredSignals {
  #workers: readonly Telling[] = []
  #names: ReadonlySet<string> = new Set()

  /** Whether a worker declares the name for any procedure. */
  async isKnown(store: StorePort, name: string): Promise<boolean> {
    if (!this.#names.has(name)) await this.#read(store)
    return this.#names.has(name)
  }

  /** Returns the declared signals; undefined if the name is one of them, or if a worker does not tell. */
  async besides(
    store: StorePort,
    {
      procedure,
      version,
      name,
    }: { readonly procedure: string; readonly version: number; readonly name: string },
  ): Promise<readonly string[] | undefined> {
    const of = () => signalsOf(this.#workers, procedure, version)
    if (of()?.includes(name) === true) return undefined
    await this.#read(store)
    const signals = of()
    return signals?.includes(name) === true ? undefined : signals
  }

  async #read(store: StorePort): Promise<void> {
    this.#workers = await readTelling(store)
    this.#names = new Set(
      this.#workers.flatMap(({ inputs }) => inputs.flatMap(({ signals = [] }) => signals)),
    )
  }
}

/** Returns all signals that able workers declare; undefined if there is no such worker, or one does not tell. */
function signalsOf(
  workers: readonly Telling[],
  procedure: string,
  version: number,
): readonly string[] | undefined {
  // One that has told nothing may be able to.
  const able = workers.filter(
    ({ procedures }) => procedures === null || canExecute(procedures, procedure, version),
  )
  const told = able.map(({ inputs }) =>
    inputs.find((one) => one.name === procedure && one.version === version),
  )
  const signals = told.map((one) => one?.signals)
  if (signals.length === 0 || signals.includes(undefined)) return undefined
  return [...new Set(signals.flatMap((some) => some ?? []))]
}
