import { toHex } from '../../base/hex.ts'
import { checkFunction, checkName, refuse } from '../../checks/options.ts'
import { optional, readOptions, type Spec } from '../../checks/spec.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import type { LogEvent } from '../../events/event.ts'
import { concernOf } from '../../ports/concerns.ts'
import type { KeptCheckpoint } from '../../ports/store/checkpoints.ts'
import type { CopyStore, KeptAsk, KeptMessage, LastPart, RunCopy } from '../../ports/store/copies.ts'
import type { KeptNotice } from '../../ports/store/notices.ts'
import type { StateRow } from '../../ports/store/states.ts'
import type { StorePort } from '../../ports/store/store.ts'
import { checkGivenId } from '../../runs/check-start.ts'
import { type ExportHeader, invalidExport } from '../../runs/export/format.ts'
import { type Chunks, readExport } from '../../runs/export/read.ts'
import { OpenChildren } from '../../runs/imported-children.ts'
import { actOptions } from '../act-options.ts'
import type { Connection } from '../connection.ts'
import { observeCall } from '../observed.ts'
import type { ImportOptions } from '../types.ts'

/** Maximum size of a part of a copied log, in bytes of payload. */
const maxPart = 8 * 2 ** 20

const importOptions = {
  id: optional(checkName),
  check: optional(checkFunction<NonNullable<ImportOptions['check']>>),
  ...actOptions,
} satisfies Spec<ImportOptions>

/**
 * Stores an exported run. No call finds it before all of it is verified and stored.
 * @throws PawlError 'export-invalid', 'id-taken', 'option-invalid'
 */
export async function importRun(
  connection: Connection,
  file: unknown,
  given: unknown,
): Promise<{ readonly id: string }> {
  const chunks = checkFile(file)
  const asked = readOptions('of import', given, importOptions)
  return observeCall(
    connection,
    { verb: 'import', run: asked.id, procedure: undefined, by: asked.by },
    () => store(connection, chunks, asked),
    ({ id }) => ({ run: id }),
  )
}

async function store(
  connection: Connection,
  chunks: Chunks,
  asked: ImportOptions,
): Promise<{ readonly id: string }> {
  const port = await connection.begin()
  let copying: Copying | null = null
  for await (const part of readExport(connection.sha256, chunks)) {
    if (part.kind === 'header') copying = await beginCopy(connection, port, part.header, asked)
    else if (part.kind !== 'end') await copying?.add(part)
  }
  // Only now: more may have come after what looked like the end.
  const complete = copying as Copying
  await complete.end()
  const { id, isLive } = complete
  if (isLive) connection.localWorker?.onDue()
  return { id }
}

function checkFile(file: unknown): Chunks {
  if (file instanceof Uint8Array) return [file]
  const isIterable = typeof file === 'object' && file !== null && Symbol.asyncIterator in file
  if (isIterable) return file as Chunks
  return refuse('run of import', file, 'It must be a Uint8Array, or an async iterable of these.')
}

async function beginCopy(
  connection: Connection,
  store: StorePort,
  header: ExportHeader,
  asked: ImportOptions,
): Promise<Copying> {
  const id = asked.id ?? header.id
  const { state, procedure, version, first, tags } = header
  checkGivenId(id, procedure)
  if (id !== header.id && state !== 'completed' && state !== 'cancelled')
    refuse(
      'id of import',
      id,
      `Run ${header.id} ${state === 'live' ? 'is live' : 'has failed'} and can act again. It keeps its id, so that no two runs use one approval or one idempotency key. Import it without an id, and fork it.`,
    )
  asked.check?.({ id, procedure, tags, state })
  // The last part looks again: this saves reading all of the file.
  if ((await store.runs.find(id)) !== null) throw idTaken(id)
  const copy = { id, token: toHex(connection.entropy.bytes(16)), procedure, version }
  return new Copying(store, copy, header, first)
}

function idTaken(id: string): PawlError<'id-taken'> {
  return new PawlError(
    'id-taken',
    { id },
    {
      what: `Run ${id} already exists.`,
      next: 'Nothing was imported.',
      remedy: 'Delete that run first, or import into another store.',
    },
  )
}

interface Rows {
  readonly events?: readonly LogEvent[]
  readonly messages?: readonly KeptMessage[]
  readonly asks?: readonly KeptAsk[]
  readonly states?: readonly StateRow[]
  readonly checkpoints?: readonly KeptCheckpoint[]
  readonly notices?: readonly KeptNotice[]
}

/** A run that is being stored part by part. */
class Copying {
  readonly #store: StorePort
  readonly #copies: CopyStore
  readonly #copy: RunCopy
  readonly #header: ExportHeader
  #events: LogEvent[] = []
  #bytes = 0
  #next: number
  #hasBegun = false
  readonly #messages: KeptMessage[] = []
  readonly #asks: KeptAsk[] = []
  readonly #states: StateRow[] = []
  readonly #checkpoints: KeptCheckpoint[] = []
  readonly #notices: KeptNotice[] = []
  readonly #children = new OpenChildren()

  constructor(store: StorePort, copy: RunCopy, header: ExportHeader, first: number) {
    this.#store = store
    this.#copies = concernOf(store, 'copies')
    this.#copy = copy
    this.#header = header
    this.#next = first
  }

  get id(): string {
    return this.#copy.id
  }

  get isLive(): boolean {
    return this.#header.state === 'live'
  }

  async add(rows: Rows): Promise<void> {
    const { events = [], messages = [], asks = [], states = [], checkpoints = [], notices = [] } = rows
    this.#messages.push(...messages)
    this.#asks.push(...asks)
    this.#states.push(...states)
    this.#checkpoints.push(...checkpoints)
    this.#notices.push(...notices)
    this.#events.push(...events)
    for (const event of events) this.#children.add(event)
    this.#bytes += events.reduce((sum, { payload }) => sum + 200 + (payload?.length ?? 0), 0)
    if (this.#bytes >= maxPart) await this.#install(null)
  }

  async end(): Promise<void> {
    if (this.#checkpoints.length > 0) concernOf(this.#store, 'checkpoints')
    if (this.#notices.length > 0) concernOf(this.#store, 'notices')
    const { base, link, state, createdAt, endedAt, cancelAt, tags, startedBy, parent, info } = this.#header
    const notes = this.isLive ? this.#children.notesBehind(this.#messages) : []
    await this.#install({
      ...{ base, link, state, createdAt, endedAt, cancelAt, tags, startedBy, parent, info },
      ...{ messages: [...this.#messages, ...notes], asks: this.#asks, states: this.#states },
      // As the file has them: the log also records deleted ones.
      checkpoints: this.#checkpoints,
      notices: this.#notices,
    })
  }

  async #install(last: LastPart | null): Promise<void> {
    if (!this.#hasBegun && this.#next > 0) await this.#copies.install(this.#copy, 0, [], null)
    this.#hasBegun = true
    const events = this.#events
    this.#events = []
    this.#bytes = 0
    const { outcome } = await this.#copies.install(this.#copy, this.#next, events, last)
    this.#next += events.length
    if (outcome === 'exists') throw idTaken(this.id)
    if (outcome === 'lost')
      throw invalidExport('it took more than an hour to arrive, so that its first parts were cleared')
  }
}
