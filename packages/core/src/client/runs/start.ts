import { definitionOf, isProcedureRef, type ProcedureDefinition } from '../../authoring/procedure.ts'
import { isBuiltIn } from '../../base/built-in.ts'
import { toHex } from '../../base/hex.ts'
import { issuesOf } from '../../base/issues.ts'
import { whenKnown } from '../../base/when-known.ts'
import { refuse } from '../../checks/options.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import type { StoredEvent } from '../../events/event.ts'
import { decode } from '../../events/payload.ts'
import type { StartedPayload, TraceContext } from '../../events/payloads.ts'
import { readStarted } from '../../events/read-started.ts'
import { validate } from '../../host/run-schema.ts'
import type { Claimant } from '../../ports/store/claims.ts'
import type { Created, NewRun } from '../../ports/store/runs.ts'
import { type ComposedStart, composeStart, isSameInput, type StartPorts } from '../../runs/check-start.ts'
import { firstOfLog, hashRun, type UnhashedRun } from '../../runs/new-run.ts'
import { Batch } from '../batch.ts'
import type { Connection } from '../connection.ts'
import { observeCall } from '../observed.ts'
import type { RunSettings } from '../options.ts'
import { explainUnread, isAsRead } from '../unread.ts'
import { DeclaredInputs } from './declared-inputs.ts'
import { restartEnded, takenByAnother } from './restart.ts'

/** Which existing run with the id is acceptable. 'live': one that has ended starts again. */
type Existing = 'same-input' | 'any-input' | 'live'

interface StartedRun {
  readonly id: string
  /** Whether this call has created the run. */
  readonly isNew: boolean
}

/** Starts runs. A start resolves once the run is durable, and is idempotent for its id. */
export class RunStarter {
  readonly #connection: Connection
  readonly #ports: StartPorts
  readonly #declared: DeclaredInputs
  readonly #creates: Batch<UnhashedRun, Created, Claimant | null>

  constructor(connection: Connection) {
    this.#connection = connection
    this.#declared = new DeclaredInputs(connection.clock)
    this.#ports = { entropy: connection.entropy, sha256: connection.sha256, validate }
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
  start(procedure: unknown, input: unknown, settings: RunSettings, existing: Existing): Promise<StartedRun> {
    if (this.#connection.observer === undefined)
      return this.#start(procedure, input, settings, existing, undefined)
    const name = isProcedureRef(procedure) ? procedure.name : undefined
    return observeCall(
      this.#connection,
      { verb: 'run', run: settings.id, procedure: name, by: settings.by },
      (trace) => this.#start(procedure, input, settings, existing, trace),
      ({ id, isNew }) => ({ run: id, isNew }),
    )
  }

  async #start(
    procedure: unknown,
    input: unknown,
    settings: RunSettings,
    existing: Existing,
    trace: TraceContext | undefined,
  ): Promise<StartedRun> {
    const { name, definition } = this.#identify(procedure)
    const id = settings.id ?? this.#newId()
    const composing = composeStart(this.#ports, {
      id,
      procedure: name,
      code: definition,
      input,
      // A generated id cannot be retried.
      isRepeatable: settings.id !== undefined,
      by: settings.by ?? null,
      tags: settings.tags,
      timeout: settings.timeout,
      trace,
    })
    const admitted =
      definition === undefined ? this.#admit(await composing, settings.id, existing) : composing
    const starting = whenKnown(admitted, (start) => ({ start, creating: this.#creates.add(start.run) }))
    // No unnecessary await: with each one, many callers that start together block the event loop longer.
    const { start, creating } = starting instanceof Promise ? await starting : starting
    let created = await creating
    while (created.outcome === 'exists') {
      if (await this.#accepts(start, existing)) return { id, isNew: false }
      // It was deleted meanwhile.
      created = await this.#creates.add(start.run)
    }
    return { id, isNew: true }
  }

  /**
   * Checks an input without the code, as far as the live workers declare what they take. An existing run already has
   * its input; no worker has to be asked. @throws PawlError 'input-invalid'
   */
  async #admit(start: ComposedStart, id: string | undefined, existing: Existing): Promise<ComposedStart> {
    const { procedure, started } = start.run
    if (isBuiltIn(procedure)) return start
    const store = await this.#connection.store()
    const { input } = decode(started.payload) as StartedPayload
    const refused = await this.#declared.refusalOf(store, procedure, input)
    if (refused === null) return start
    const row = id === undefined ? null : await store.runs.find(id)
    if (row !== null && (existing !== 'live' || row.state === 'live')) return start
    throw new PawlError('input-invalid', issuesOf(refused))
  }

  /** Accepts the run that has the id, or starts it again. False: it is not there any more. @throws PawlError 'id-taken' */
  async #accepts(start: ComposedStart, existing: Existing): Promise<boolean> {
    if (existing === 'live') return restartEnded(this.#connection, start.run)
    const isSame = await this.#isSame(start, existing)
    if (isSame !== false) return isSame === true
    const { id } = start.run
    throw existing === 'same-input' ? new PawlError('id-taken', { id }) : takenByAnother(id)
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

  /** Creates runs. A run that the worker of this process can execute is created already claimed by it. */
  async #create(unhashed: readonly UnhashedRun[], claimant: Claimant | null): Promise<readonly Created[]> {
    const runs = unhashed.map((run) => this.#toNewRun(run, claimant))
    const { localWorker } = this.#connection
    const store = await this.#connection.store()
    const outcomes = await store.runs.create(runs)
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
        base: 0,
        mail: 0,
        tries: 0,
        positives: 0,
        alone: 0,
        mark: 'none' as const,
        link,
      }
      localWorker?.onCreated({ worker, claimed, started: firstOfLog(started, created.at) })
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

  /** Returns whether the existing run was started with the same procedure and input; null if it is not there any more. */
  async #isSame(start: ComposedStart, existing: Existing): Promise<boolean | null> {
    const { id, procedure } = start.run
    const store = await this.#connection.store()
    const row = await store.runs.find(id)
    if (row === null) return null
    if (row.procedure !== procedure) return false
    if (existing === 'any-input') return true
    const [first] = await store.log.load(row.run, row.base, 1)
    if (first === undefined) return (await isAsRead(store, row)) ? false : null
    return isSameInput(this.#ports.sha256, readInput(id, first), start)
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
