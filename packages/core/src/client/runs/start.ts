import { definitionOf, isProcedureRef, type ProcedureDefinition } from '../../authoring/procedure.ts'
import { canonical } from '../../base/canonical.ts'
import { isEqual } from '../../base/equal.ts'
import { toHex } from '../../base/hex.ts'
import { issuesOf, oneIssue } from '../../base/issues.ts'
import { whenKnown } from '../../base/when-known.ts'
import { refuse } from '../../checks/options.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import type { StoredEvent } from '../../events/event.ts'
import { decode, encode, encodeRecord } from '../../events/payload.ts'
import type { StartedPayload } from '../../events/payloads.ts'
import { readStarted } from '../../events/read-started.ts'
import { sameBytes } from '../../events/seal.ts'
import { validate } from '../../host/run-schema.ts'
import type { Claimant } from '../../ports/store/claims.ts'
import type { Created, NewRun, RunKey } from '../../ports/store/runs.ts'
import { composeRun, firstOfLog, hashRun, type UnhashedRun } from '../../runs/new-run.ts'
import type { Validation } from '../../schemas/schema.ts'
import { Batch } from '../batch.ts'
import type { Connection } from '../connection.ts'
import type { RunSettings } from '../options.ts'
import { explainUnread } from '../unread.ts'

/** Which existing run with the id is acceptable. */
type Existing = 'same-input' | 'any-input'

/** Starts runs. A start resolves once the run is durable, and is idempotent for its id. */
export class RunStarter {
  readonly #connection: Connection
  readonly #creates: Batch<UnhashedRun, Created, Claimant | null>

  constructor(connection: Connection) {
    this.#connection = connection
    this.#creates = new Batch({
      begin: () => connection.claimant(),
      write: (runs, claimant) => this.#create(runs, claimant),
      sizeOf: ({ started }) => started.payload?.length ?? 0,
    })
  }

  /**
   * Starts a run. The input is read synchronously if its schema allows, so that later changes have no effect.
   * @throws PawlError 'input-invalid', 'id-taken', 'payload-refused'
   */
  async start(
    procedure: unknown,
    input: unknown,
    settings: RunSettings,
    existing: Existing,
  ): Promise<{ readonly id: string }> {
    const { name, definition } = this.#identify(procedure)
    const id = settings.id ?? this.#newId()
    // A generated id cannot be retried.
    const given = settings.id === undefined ? null : keepGiven(input)
    const starting = whenKnown(checkInput(definition, input), (checked) => {
      if (!checked.ok) throw new PawlError('input-invalid', issuesOf(checked))
      const run = this.#compose(id, name, definition, { given, checked: checked.value }, settings)
      return { run, creating: this.#creates.add(run) }
    })
    // No unnecessary await: with each one, many callers that start together block the event loop longer.
    const { run, creating } = starting instanceof Promise ? await starting : starting
    const created = await creating
    if (created.outcome === 'exists' && !(await this.#isSame(created.run, run, given, existing)))
      throw existing === 'same-input' ? new PawlError('id-taken', { id }) : takenByAnother(id)
    return { id }
  }

  #identify(procedure: unknown): {
    readonly name: string
    readonly definition: ProcedureDefinition | undefined
  } {
    const definition = definitionOf(procedure)
    if (!isProcedureRef(procedure))
      return refuse(
        'procedure of run',
        procedure,
        'It must be created by procedure() or ref(); a name is not enough.',
      )
    const { name } = procedure
    const { localWorker } = this.#connection
    if (localWorker?.knows(name, null) === false)
      throw new PawlError('procedure-unknown', { procedure: name })
    if (definition !== undefined && localWorker?.knows(name, definition.version) === false)
      throw new PawlError(
        'procedure-unknown',
        { procedure: name },
        { what: `This engine has procedure '${name}', but not version ${definition.version} of it.` },
      )
    return { name, definition }
  }

  /** Generates an id that begins with the time: the store's index then grows at its end, which writes less. */
  #newId(): string {
    const { clock, entropy } = this.#connection
    return Math.floor(clock.wall()).toString(16).padStart(12, '0') + toHex(entropy.bytes(8))
  }

  #compose(
    id: string,
    procedure: string,
    definition: ProcedureDefinition | undefined,
    input: { readonly given: Given; readonly checked: unknown },
    { by, tags }: RunSettings,
  ): UnhashedRun {
    const isOther =
      definition?.input !== undefined && input.given !== null && !isEqual(input.given.value(), input.checked)
    return composeRun({
      id,
      procedure,
      version: definition?.version ?? null,
      isChecked: definition !== undefined,
      input: input.checked,
      given: isOther ? this.#hashOf(input.given.value()) : null,
      seed: this.#connection.entropy.bytes(16),
      by: by ?? null,
      tags,
    })
  }

  /** Creates runs. A run that the worker of this process can execute is created already claimed by it. */
  async #create(unhashed: readonly UnhashedRun[], claimant: Claimant | null): Promise<readonly Created[]> {
    const runs = unhashed.map((run) => this.#toNewRun(run, claimant))
    const { localWorker } = this.#connection
    const store = await this.#connection.store()
    const outcomes = await store.create(runs)
    outcomes.forEach((created, i) => {
      const { id, procedure, version, link, started, worker } = runs[i] as NewRun
      if (created.outcome !== 'created' || worker === null || version === null) return
      const claimed = {
        run: created.run,
        id,
        procedure,
        version,
        epoch: 1,
        head: 1,
        mail: 0,
        tries: 0,
        positives: 0,
        alone: 0,
        mark: 'none' as const,
        link,
      }
      localWorker?.onCreated({ claimed, started: firstOfLog(started, created.at) })
    })
    if (runs.some(({ worker }) => worker === null)) localWorker?.onDue()
    return outcomes
  }

  #toNewRun(run: UnhashedRun, claimant: Claimant | null): NewRun {
    const canClaim = claimant?.procedures.some(
      ({ name, versions }) =>
        name === run.procedure && run.version !== null && versions.includes(run.version),
    )
    const worker = canClaim === true ? (claimant?.worker ?? null) : null
    return hashRun(this.#connection.sha256, run, worker)
  }

  /** Returns whether the existing run was started with the same procedure and input. */
  async #isSame(
    key: RunKey,
    { id, procedure, started }: UnhashedRun,
    given: Given,
    existing: Existing,
  ): Promise<boolean> {
    const store = await this.#connection.store()
    const row = await store.find(id)
    if (row === null || row.procedure !== procedure) return false
    if (existing === 'any-input') return true
    const [first] = await store.load(key, 0, 1)
    if (first === undefined) return false
    const recorded = readInput(id, first)
    const sought = decode(started.payload) as StartedPayload
    if (recorded.checked && isEqual(recorded.input, sought.input)) return true
    // The schema may have changed, or only one of the two starts had it.
    if (given === null) return false
    if (recorded.given === undefined) return isEqual(recorded.input, given.value())
    return sameBytes(recorded.given, this.#hashOf(given.value()))
  }

  #hashOf(given: unknown): Uint8Array {
    return this.#connection.sha256(encodeRecord([canonical(given)], 'input'))
  }
}

/** The input as the caller passed it, decoded on demand; null if it cannot be recorded. */
type Given = { readonly value: () => unknown } | null

function keepGiven(input: unknown): Given {
  try {
    const bytes = encode(input, 'input')
    return { value: () => decode(bytes) }
  } catch (error) {
    if (!PawlError.is(error, 'payload-refused')) throw error
    return null
  }
}

/** @throws PawlError 'run-quarantined' */
function readInput(run: string, first: StoredEvent): StartedPayload {
  try {
    return readStarted(first)
  } catch (error) {
    throw explainUnread(run, `The input of run ${run}`, error)
  }
}

function takenByAnother(id: string): PawlError {
  return new PawlError(
    'id-taken',
    { id },
    { what: `Run ${id} already exists, with another procedure.`, remedy: 'Use a different id.' },
  )
}

function checkInput(
  definition: ProcedureDefinition | undefined,
  input: unknown,
): Validation | Promise<Validation> {
  if (definition?.input !== undefined) return validate(definition.input, input)
  if (definition === undefined || input === undefined) return { ok: true, value: input }
  const message = `procedure '${definition.name}' takes no input: pass undefined instead, and options such as id after it`
  return { ok: false, ...oneIssue('', message) }
}
