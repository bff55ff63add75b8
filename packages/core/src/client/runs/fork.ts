import { checkpointsIn } from '../../asks/checkpoints.ts'
import { toHex } from '../../base/hex.ts'
import { checkFunction, checkName, checkObject, checkWhole, partOf, refuse } from '../../checks/options.ts'
import { checkActor } from '../../checks/people.ts'
import { anything, optional, readOptions, type Spec } from '../../checks/spec.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import { isUnread } from '../../events/codec.ts'
import type { LogEvent, StoredEvent } from '../../events/event.ts'
import { decode, encode, encodeRecord } from '../../events/payload.ts'
import {
  type CreatedPayload,
  type ForkOrigin,
  type ForkPayload,
  noMessage,
  type RepliedPayload,
  type RunInfo,
  type StartedPayload,
  type UpdatePayload,
} from '../../events/payloads.ts'
import { readStarted } from '../../events/read-started.ts'
import { LogHash } from '../../events/seal.ts'
import { asksAgain, timesOut } from '../../kernel/flags.ts'
import { concernOf } from '../../ports/concerns.ts'
import type { KnownRun } from '../../ports/rows.ts'
import type { LastPart } from '../../ports/store/copies.ts'
import { checkGivenId } from '../../runs/check-start.ts'
import { cutAt, cutBehind, cutForFork, findResult, withoutUnusedConsent } from '../../runs/cut.ts'
import { forkFamilyOf } from '../../runs/fork-family.ts'
import { previewRepeat, type RepeatPreview } from '../../runs/preview.ts'
import { type ForkRequest, hashEdits, otherThanFork } from '../../runs/same-fork.ts'
import type { Connection } from '../connection.ts'
import { findRun } from '../find-run.ts'
import { readGeneration, readLogPages } from '../log/pages.ts'
import { observeCall } from '../observed.ts'
import type { ForkChanges, ForkPoint, KeptAnswer } from '../types.ts'
import { explainUnread } from '../unread.ts'
import { readAskView } from '../views/ask.ts'
import { nextPositionAfter } from '../views/run.ts'
import type { Ask } from '../views/views.ts'
import { checkEditable, encodeEdit, isAnswer } from './fork-edit.ts'
import { type ForkPlace, readForkPlace } from './fork-place.ts'
import { checkKeptAnswers } from './kept-answers.ts'
import { findQuestion, type LoggedRun } from './questions.ts'

/** Maximum size of a part of a copied log, in bytes of payload. */
const maxPart = 8 * 2 ** 20

interface ForkSettings extends ForkRequest {
  readonly id: string | undefined
  readonly by: string | undefined
  readonly checkAnswer: ((ask: Ask) => void) | undefined
  readonly checkKept: ((answer: KeptAnswer) => void) | undefined
}

/**
 * Starts a run that shares the recorded past of another one up to a position. It is idempotent for the id of the new run: a call with
 * the same arguments finds the fork that it has made, even if the original has continued or is deleted.
 * @throws PawlError 'run-not-found', 'id-taken', 'option-invalid', 'answer-invalid', 'payload-refused', 'run-quarantined'
 */
export async function forkRun(
  connection: Connection,
  original: string,
  from: unknown,
  changes: unknown,
): Promise<{ readonly id: string }> {
  const settings = readSettings(original, from, changes)
  return observeCall(
    connection,
    { verb: 'fork', run: original, procedure: undefined, by: settings.by },
    () => makeFork(connection, settings),
    ({ id }) => ({ run: id }),
  )
}

async function makeFork(connection: Connection, settings: ForkSettings): Promise<{ readonly id: string }> {
  const { id = newId(connection) } = settings
  if (settings.id !== undefined && (await isThere(connection, id, settings))) return { id }
  const row = await findRun(connection, settings.run)
  if (settings.id !== undefined) checkGivenId(id, row.procedure)
  const place = await readForkPlace(connection, row, settings.from)
  const { kept } = await keep(connection, row, place, settings)
  while (!(await install(connection, row, id, kept, place, settings)))
    if (await isThere(connection, id, settings)) return { id }
  connection.localWorker?.onDue()
  return { id }
}

/** Whether the fork exists already. @throws PawlError 'id-taken' (another run has its id), 'run-quarantined' */
async function isThere(connection: Connection, id: string, asked: ForkRequest): Promise<boolean> {
  const store = await connection.begin()
  const row = await store.runs.find(id)
  if (row === null) return false
  const [first] = await store.log.load(row.run, row.base, 1)
  const other =
    first === undefined ? 'without a log' : otherThanFork(connection.sha256, readFirst(id, first), asked)
  if (other === null) return true
  throw new PawlError(
    'id-taken',
    { id },
    { what: `Run ${id} already exists, ${other}.`, remedy: 'Use a different id.' },
  )
}

function readFirst(run: string, first: StoredEvent): StartedPayload {
  try {
    return readStarted(first)
  } catch (error) {
    throw explainUnread(run, `The first event of run ${run}`, error)
  }
}

const placeOptions = {
  position: optional(anything),
  checkpoint: optional(checkName),
} satisfies Spec<ForkPoint>

const changeOptions = {
  edit: optional(readEdits, []),
  id: optional(checkName, undefined),
  by: optional(checkActor, undefined),
  checkAnswer: optional(checkFunction<(ask: Ask) => void>, undefined),
  checkKept: optional(checkFunction<(answer: KeptAnswer) => void>, undefined),
} satisfies Spec<ForkChanges>

function readSettings(run: string, from: unknown, changes: unknown): ForkSettings {
  const { position: at, checkpoint } = readOptions('of fork', from, placeOptions, 'the from of fork')
  if (checkpoint !== undefined && at !== undefined)
    refuse('from of fork', from, 'Give position or checkpoint, not both.')
  const { edit, ...others } = readOptions('of fork', changes, changeOptions, 'the changes of fork')
  return {
    run,
    from:
      checkpoint === undefined
        ? { position: checkWhole('position of fork', at, 0, 2 ** 31 - 1) }
        : { checkpoint },
    edits: new Map(edit),
    ...others,
  }
}

/** Returns the replaced results, by position, in their order. */
function readEdits(option: string, given: unknown): readonly (readonly [number, Uint8Array | null])[] {
  const edits = Object.entries(checkObject(option, given)).map(
    ([position, value]) =>
      [
        checkWhole('position of an edit of fork', readPosition(position), 0, 2 ** 31 - 1),
        encode(value, partOf(option, position)),
      ] as const,
  )
  return edits.sort(([a], [b]) => a - b)
}

/** A key that is not written as a whole number, such as '' or '01', would be taken for another position. */
function readPosition(key: string): number {
  if (/^(0|[1-9]\d*)$/.test(key)) return Number(key)
  return refuse('position of an edit of fork', key, 'It must be a whole number, such as 3.')
}

/** Says what {@link forkRun} would do again. Starts nothing. @throws as it does, except 'id-taken' */
export async function previewFork(
  connection: Connection,
  original: string,
  from: unknown,
  changes: unknown,
): Promise<RepeatPreview> {
  const settings = readSettings(original, from, changes)
  const row = await findRun(connection, original)
  const place = await readForkPlace(connection, row, settings.from)
  const { events, kept } = await keep(connection, row, place, settings)
  const preview = previewRepeat(events, kept, new Set(settings.edits.keys()))
  return { ...preview, children: replacedChildren(events, kept) }
}

/** Returns the ids of the runs that the original has created behind the cut, where the fork creates its own. */
function replacedChildren(events: readonly LogEvent[], kept: readonly LogEvent[]): readonly string[] {
  const results = new Set(kept.flatMap(({ type, position }) => (type === 'settled' ? [position] : [])))
  return events.flatMap((event) => {
    const { type, kind, failed, position, payload } = event
    const isCreated = type === 'created' || (type === 'settled' && kind === 'spawn' && !failed)
    return isCreated && !results.has(position) ? (decode(payload) as CreatedPayload).id : []
  })
}

/** Reads the present generation. Of a damaged log, what comes before the damage counts if the position has a result there. */
async function readKept(
  connection: Connection,
  row: KnownRun,
  { position, seq }: ForkPlace,
): Promise<LogEvent[]> {
  const events: LogEvent[] = []
  const store = await connection.store()
  try {
    const { firstPosition } = await readGeneration(store, row)
    if (position < firstPosition || (seq !== null && seq <= row.base))
      refuse('position of fork', position, `The present generation begins at position ${firstPosition}.`)
    for await (const page of readLogPages(store, connection.sha256, row)) events.push(...page)
    const next = Math.max(firstPosition, nextPositionAfter(row, events))
    if (seq === null && position > next)
      refuse(
        'position of fork',
        position,
        `The next position of the run is ${next}; its log has none behind it.`,
      )
  } catch (error) {
    const isWhole = seq === null ? findResult(events, position) !== -1 : row.base + events.length >= seq
    if (!isUnread(error) || !isWhole) throw explainUnread(row.id, `The log of run ${row.id}`, error)
  }
  return events
}

/** Reads the log, and cuts it, with the edits. */
async function keep(
  connection: Connection,
  row: KnownRun,
  place: ForkPlace,
  { edits, by, checkAnswer, checkKept }: ForkSettings,
): Promise<{ readonly events: readonly LogEvent[]; readonly kept: readonly LogEvent[] }> {
  const events = await readKept(connection, row, place)
  const cut = cutWithEdits(events, place, [...edits.keys()])
  const changed: LogEvent[] = []
  for (const event of cut)
    changed.push(
      event.type === 'settled' && edits.has(event.position)
        ? await edit(connection, { row, events }, event, edits.get(event.position) ?? null, {
            by,
            checkAnswer,
          })
        : withoutMessage(shareSpawned(event)),
    )
  const kept = withoutUnusedConsent(changed, events)
  for (const edited of edits.keys())
    if (findResult(kept, edited) === -1)
      refuse(
        `edit.${edited} of fork`,
        edited,
        'The fork obtains the consent to an action anew, and begins before this result.',
      )
  if (checkKept !== undefined) {
    const unedited = kept.filter(({ position }) => !edits.has(position))
    await checkKeptAnswers(connection, { row, events }, unedited, checkKept)
  }
  return { events, kept }
}

/** Cuts the log at the place, or right behind the first of the edited results. */
function cutWithEdits(
  events: readonly LogEvent[],
  { position, seq }: ForkPlace,
  edited: readonly number[],
): readonly LogEvent[] {
  const kept = seq === null ? cutForFork(events, position) : cutAt(events, seq)
  for (const one of edited) {
    const result = kept[findResult(kept, one)]
    if (result === undefined)
      return refuse(
        `edit.${one} of fork`,
        one,
        `Only a result that the fork keeps can be edited. Fork behind it, such as at position ${one + 1}.`,
      )
    checkEditable(result)
  }
  const [first] = edited.toSorted((a, b) => findResult(kept, a) - findResult(kept, b))
  if (first === undefined) return kept
  const behind = cutBehind(kept, first)
  for (const one of edited)
    if (findResult(behind, one) === -1)
      refuse(`edit.${one} of fork`, one, `The fork continues right behind the edit of position ${first}.`)
  return behind
}

/** Replaces a result. An answer is replaced by one that a person could have given who may. */
async function edit(
  connection: Connection,
  run: LoggedRun,
  result: LogEvent,
  value: Uint8Array | null,
  { by, checkAnswer }: Pick<ForkSettings, 'by' | 'checkAnswer'>,
): Promise<LogEvent> {
  const now = Math.floor(connection.clock.wall())
  const question = isAnswer(result) ? await findQuestion(connection, run, result.position) : null
  if (isAnswer(result) && question === null) return refuseWithoutQuestion(run, result)
  if (question !== null) checkAnswer?.(readAskView(connection, question.row, now))
  const payload = encodeEdit(result, value, { asked: question?.asked ?? null, by, now })
  return { ...result, failed: false, payload }
}

function refuseWithoutQuestion({ row, events }: LoggedRun, { position, name }: LogEvent): never {
  const { fork } = decode((events[0] as LogEvent).payload) as StartedPayload
  const origin = fork === undefined ? 'the run' : `run ${fork.run}, of which ${row.id} is a fork,`
  return refuse(
    `edit.${position} of fork`,
    name,
    `An earlier version kept this answer without its question, and ${origin} does not have the question any more. Fork at position ${position} instead, so that people are asked again.`,
  )
}

/** A run that the original has spawned does not end with the fork. */
function shareSpawned(event: LogEvent): LogEvent {
  if (event.type !== 'settled' || event.kind !== 'spawn' || event.failed) return event
  const created: CreatedPayload = { ...(decode(event.payload) as CreatedPayload), existed: true }
  return { ...event, payload: encodeRecord(created, 'child') }
}

/**
 * An update that the original has taken is handled in the fork too, but answered by the original: its message is not in the mail of
 * the fork, where another one has its number.
 */
function withoutMessage(event: LogEvent): LogEvent {
  const { type, kind, failed, payload } = event
  if (type !== 'settled' || (kind !== 'update' && kind !== 'reply') || failed) return event
  const of = decode(payload) as UpdatePayload | RepliedPayload
  return { ...event, payload: encodeRecord({ ...of, n: noMessage }, 'update') }
}

/** The runs of which the original of a fork, or the root of its family, is a fork itself; and who started it and them. */
function originalsOf(original: string, started: StartedPayload): Pick<ForkOrigin, 'above' | 'starters'> {
  const family = forkFamilyOf(original, started)
  const starters = [...new Set([started.by, ...(family?.starters ?? [])])].filter((one) => one !== null)
  return {
    ...(family === null ? {} : { above: family.originals }),
    ...(starters.length === 0 ? {} : { starters }),
  }
}

/** Stores the fork. False: a run with its id exists. */
async function install(
  connection: Connection,
  row: KnownRun,
  id: string,
  kept: readonly LogEvent[],
  { position }: ForkPlace,
  { by, from, edits }: ForkSettings,
): Promise<boolean> {
  const { entropy, sha256 } = connection
  const store = await connection.store()
  const [first] = kept as readonly [LogEvent]
  const { generation, parent, timeout, fork: _, ...started } = decode(first.payload) as StartedPayload
  const fork: ForkPayload = {
    ...{ run: row.id, position, firstPosition: generation?.firstPosition ?? 0 },
    ...{ keys: entropy.bytes(16), seed: entropy.bytes(16), from: kept.length },
  }
  const forkedFrom: ForkOrigin = {
    ...{ run: row.id, position, checkpoint: 'checkpoint' in from ? from.checkpoint : null },
    edits: hashEdits(sha256, edits),
    ...originalsOf(row.id, decode(first.payload) as StartedPayload),
  }
  // Its asks have the key of the fork in their ids.
  const flags = started.flags.filter((flag) => flag !== timesOut && flag !== asksAgain)
  const startedBy = by ?? started.by
  const payload: StartedPayload = { ...started, id, flags, by: startedBy, fork, forkedFrom }
  const hash = new LogHash(sha256)
  const copies = kept.map((event, seq): LogEvent => {
    const copy = {
      ...event,
      ...{ seq, epoch: 1, link: null },
      payload: seq === 0 ? encodeRecord(payload, 'input') : event.payload,
    }
    return { ...copy, link: hash.add(copy) }
  })
  const info: RunInfo = { waiting: [], forkedFrom: { run: row.id, position } }
  const last: LastPart = {
    link: hash.link(),
    ...{ state: 'live', base: 0, createdAt: null, endedAt: null, parent: null },
    ...{ messages: [], asks: [], states: [] },
    checkpoints: store.checkpoints === undefined ? [] : checkpointsIn(kept),
    // Those of the original were read there; the fork has only its own.
    notices: [],
    cancelAt: kept.find(({ type }) => type === 'cancelled')?.at ?? null,
    tags: started.tags,
    startedBy,
    info: encodeRecord(info, 'info'),
  }
  const { procedure, version } = row
  for (;;) {
    const copy = { id, token: toHex(entropy.bytes(16)), procedure, version }
    let outcome: 'installed' | 'exists' | 'lost' = 'installed'
    const parts = partsOf(copies)
    for (const [index, part] of parts.entries()) {
      const isLast = index === parts.length - 1
      outcome = (
        await concernOf(store, 'copies').install(copy, part[0]?.seq ?? 0, part, isLast ? last : null)
      ).outcome
      if (outcome !== 'installed') break
    }
    if (outcome !== 'lost') return outcome === 'installed'
  }
}

function partsOf(events: readonly LogEvent[]): readonly (readonly LogEvent[])[] {
  const parts: LogEvent[][] = []
  let bytes = 0
  for (const event of events) {
    const size = 200 + (event.payload?.length ?? 0)
    if (parts.length === 0 || bytes + size > maxPart) {
      parts.push([])
      bytes = 0
    }
    parts.at(-1)?.push(event)
    bytes += size
  }
  return parts
}

function newId({ clock, entropy }: Connection): string {
  return Math.floor(clock.wall()).toString(16).padStart(12, '0') + toHex(entropy.bytes(8))
}
