import { isWellFormed } from '../../base/text.ts'
import { askStatuses, severities } from '../../base/words.ts'
import {
  type EventType,
  eventTypes,
  type LogEvent,
  noPosition,
  type OperationKind,
  operationKinds,
} from '../../events/event.ts'
import { messageKindCode, stateCode } from '../../ports/codes.ts'
import type { KeptCheckpoint } from '../../ports/store/checkpoints.ts'
import type { KeptAsk, KeptMessage } from '../../ports/store/copies.ts'
import { type KeptNotice, noticeKinds } from '../../ports/store/notices.ts'
import type { RunParent } from '../../ports/store/runs.ts'
import type { StateRow } from '../../ports/store/states.ts'
import { type ExportHeader, exportFormat } from './format.ts'

// Checks the rows of an exported run: what passes can be stored by every store. A file whose digests are right was written by
// Pawl, or by someone who wants it to look like that.

/** A part of the file is not what Pawl writes. */
export class Malformed extends Error {}
/** A part of the file is of a later version. */
export class Later extends Error {}

/** @throws Malformed, Later */
export function readHeader(value: unknown): ExportHeader {
  const row = asRecord(value, 'its header')
  const format = asWhole(row['format'], 'its format')
  if (format > exportFormat) throw new Later(`its format ${format}`)
  const header: ExportHeader = {
    format,
    id: asName(row['id'], 'its id'),
    procedure: asName(row['procedure'], 'its procedure'),
    version: orNull(row['version'], 'its version', asWhole),
    state: asWord(row['state'], 'its state', Object.keys(stateCode.numberOf) as ExportHeader['state'][]),
    first: asWhole(row['first'], 'the seq of its first event'),
    base: asWhole(row['base'], 'its base'),
    head: asWhole(row['head'], 'its head'),
    link: asBytes(row['link'], 'its hash'),
    createdAt: asTime(row['createdAt'], 'when it was created'),
    endedAt: orNull(row['endedAt'], 'when it ended', asTime),
    cancelAt: orNull(row['cancelAt'], 'when it was cancelled', asTime),
    tags: asNames(row['tags'], 'its tags'),
    startedBy: orNull(row['startedBy'], 'who started it', asName),
    parent: orNull(row['parent'], 'its parent', readParent),
    info: orNull(row['info'], 'what lists show of it', asBytes),
  }
  const { first, base, head, state, endedAt } = header
  if (first > base || base >= head) throw new Malformed(`its log begins at ${first} and ends at ${head}`)
  if ((state === 'live') !== (endedAt === null)) throw new Malformed('it has ended, or has not')
  return header
}

/** `first` is the seq of the first of the events. @throws Malformed, Later */
export function readEvents(value: unknown, first: number): readonly LogEvent[] {
  return asList(value, 'its events').map((tuple, index) =>
    readEvent(asList(tuple, 'an event'), first + index),
  )
}

function readEvent(tuple: readonly unknown[], seq: number): LogEvent {
  const of = `of event ${seq}`
  if (tuple.length !== 12) throw new Malformed(`event ${seq} has ${tuple.length} values`)
  const [at, epoch, type, position, turn, kind, name, nth, failed, tookMs, payload, link] = tuple
  return {
    seq,
    at: asTime(at, `the time ${of}`),
    epoch: asWhole(epoch, `the epoch ${of}`),
    type: asWord<EventType>(type, `the type ${of}`, eventTypes),
    position: position === -1 ? -1 : asWhole(position, `the position ${of}`),
    turn: asWhole(turn, `the turn ${of}`),
    kind: orNull(kind, `the kind ${of}`, (given, what) => asWord<OperationKind>(given, what, operationKinds)),
    name: asText(name, `the name ${of}`),
    nth: asWhole(nth, `the index ${of}`),
    failed: asBoolean(failed, `the outcome ${of}`),
    tookMs: orNull(tookMs, `the duration ${of}`, asDuration),
    payload: orNull(payload, `the payload ${of}`, asBytes),
    link: orNull(link, `the seal ${of}`, asBytes),
  }
}

/** `before` is the last message of the part before. @throws Malformed, Later */
export function readMessages(value: unknown, before: KeptMessage | null): readonly KeptMessage[] {
  let last = before?.n ?? 0
  return asList(value, 'its messages').map((given) => {
    const row = asRecord(given, 'a message')
    const n = asWhole(row['n'], 'the number of a message')
    if (n <= last) throw new Malformed(`message ${n} comes after message ${last}`)
    last = n
    const of = `of message ${n}`
    return {
      n,
      at: asTime(row['at'], `the time ${of}`),
      kind: asWord(
        row['kind'],
        `the kind ${of}`,
        Object.keys(messageKindCode.numberOf) as KeptMessage['kind'][],
      ),
      name: asText(row['name'], `the name ${of}`),
      key: orNull(row['key'], `the key ${of}`, asText),
      used: asBoolean(row['used'], `the use ${of}`),
      payload: orNull(row['payload'], `the payload ${of}`, asBytes),
      // Missing if the sender is unknown, and in the files of earlier versions.
      by: orNull(row['by'] ?? null, `the sender ${of}`, asText),
    }
  })
}

/** `before` is the last ask of the part before. @throws Malformed, Later */
export function readAsks(value: unknown, before: KeptAsk | null): readonly KeptAsk[] {
  let last = before?.position ?? -1
  return asList(value, 'its asks').map((given) => {
    const row = asRecord(given, 'an ask')
    const position = asWhole(row['position'], 'the position of an ask')
    if (position <= last) throw new Malformed(`ask ${position} comes after ask ${last}`)
    last = position
    const of = `of ask ${position}`
    return {
      position,
      kind: asText(row['kind'], `the kind ${of}`),
      key: orNull(row['key'], `the key ${of}`, asText),
      urgency: asSmall(row['urgency'], `the urgency ${of}`),
      to: asNames(row['to'], `the audience ${of}`),
      escalateTo: asNames(row['escalateTo'], `the audience ${of}`),
      dueAt: orNull(row['dueAt'], `the due time ${of}`, asTime),
      closesAt: orNull(row['closesAt'], `the end ${of}`, asTime),
      payload: asBytes(row['payload'], `the payload ${of}`),
      status: asWord(row['status'], `the status ${of}`, askStatuses),
      openedAt: asTime(row['openedAt'], `the beginning ${of}`),
      closedAt: orNull(row['closedAt'], `when it was closed ${of}`, asTime),
      answeredBy: orNull(row['answeredBy'], `who answered ${of}`, asText),
      answer: orNull(row['answer'], `the answer ${of}`, asBytes),
    }
  })
}

/** `before` is the last value of the part before. @throws Malformed, Later */
export function readStates(value: unknown, before: StateRow | null): readonly StateRow[] {
  let last = before?.name ?? ''
  return asList(value, 'its exposed values').map((given) => {
    const row = asRecord(given, 'an exposed value')
    const name = asName(row['name'], 'the name of an exposed value')
    if (name <= last) throw new Malformed(`the exposed value ${name} comes after ${last}`)
    last = name
    return {
      name,
      at: asTime(row['at'], `the time of ${name}`),
      payload: orNull(row['payload'], `the value of ${name}`, asBytes),
    }
  })
}

/** In the order of writing, which is not that of the slots. `slots` has those of the parts before. @throws Malformed */
export function readCheckpoints(
  value: unknown,
  { state, head }: Pick<ExportHeader, 'state' | 'head'>,
  slots: Set<number>,
): readonly KeptCheckpoint[] {
  if (state === 'completed') throw new Malformed('it has completed, and has checkpoints')
  return asList(value, 'its checkpoints').map((given) => {
    const row = asRecord(given, 'a checkpoint')
    const slot = asWhole(row['slot'], 'the slot of a checkpoint')
    if (slots.has(slot)) throw new Malformed(`it has two checkpoints in slot ${slot}`)
    slots.add(slot)
    const of = `of checkpoint ${slot}`
    const seq = orNull(row['seq'], `the seq ${of}`, asWhole)
    if (seq !== null && seq > head) throw new Malformed(`the seq ${of} is behind the end of its log`)
    return {
      slot,
      position: asWhole(row['position'], `the position ${of}`),
      seq,
      at: asTime(row['at'], `the time ${of}`),
      name: orNull(row['name'], `the name ${of}`, asName),
      payload: orNull(row['payload'], `the value ${of}`, asBytes),
    }
  })
}

/** In the order of writing. `known` has those of the parts before. @throws Malformed */
export function readNotices(
  value: unknown,
  { head }: Pick<ExportHeader, 'head'>,
  known: Set<string>,
): readonly KeptNotice[] {
  return asList(value, 'its notices').map((given) => {
    const row = asRecord(given, 'a notice')
    const { position, digest } = row
    if (!isInt(position, noPosition) || !isInt(digest, -(2 ** 31)))
      throw new Malformed('a notice has no position or no digest')
    const key = `${position} ${digest}`
    if (known.has(key)) throw new Malformed(`it has a notice of position ${position} twice`)
    known.add(key)
    const of = `of the notice at position ${position}`
    const seq = asWhole(row['seq'], `the seq ${of}`)
    if (seq > head) throw new Malformed(`the seq ${of} is behind the end of its log`)
    return {
      ...{ position, digest, seq },
      at: asTime(row['at'], `the time ${of}`),
      kind: asWord(row['kind'], `the kind ${of}`, noticeKinds),
      severity: asWord(row['severity'], `the severity ${of}`, severities),
      to: asNames(row['to'], `the audience ${of}`),
      payload: asBytes(row['payload'], `the text ${of}`),
    }
  })
}

function isInt(value: unknown, least: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= least && (value as number) < 2 ** 31
}

function readParent(value: unknown, what: string): RunParent {
  const row = asRecord(value, what)
  return { run: asName(row['run'], what), position: orNull(row['position'], what, asWhole) }
}

type Read<Value> = (value: unknown, what: string) => Value

function orNull<Value>(value: unknown, what: string, read: Read<Value>): Value | null {
  return value === null ? null : read(value, what)
}

/** The largest number that every store keeps in a column of counts. */
const maxWhole = 2 ** 31 - 1

const asWhole: Read<number> = (value, what) => asNumber(value, what, maxWhole)
const asSmall: Read<number> = (value, what) => asNumber(value, what, 2 ** 15 - 1)
const asTime: Read<number> = (value, what) => asNumber(value, what, 8.64e15)
/** Below 0 in a log of an earlier release, if the clock of its store had stepped back. */
const asDuration: Read<number> = (value, what) => asNumber(value, what, 8.64e15, -8.64e15)

function asNumber(value: unknown, what: string, max: number, min = 0): number {
  if (!Number.isSafeInteger(value) || (value as number) < min || (value as number) > max)
    throw new Malformed(`${what} is not a possible number`)
  return value as number
}

const asBytes: Read<Uint8Array> = (value, what) => {
  if (!(value instanceof Uint8Array)) throw new Malformed(`${what} is not bytes`)
  return value
}

const asBoolean: Read<boolean> = (value, what) => {
  if (typeof value !== 'boolean') throw new Malformed(`${what} is not true or false`)
  return value
}

/** PostgreSQL stores no NUL character. */
const asText: Read<string> = (value, what) => {
  if (typeof value !== 'string' || value.includes('\0') || !isWellFormed(value))
    throw new Malformed(`${what} is not a text`)
  return value
}

const asName: Read<string> = (value, what) => {
  const name = asText(value, what)
  if (name === '' || name.length > 200) throw new Malformed(`${what} is not a name of 1 to 200 characters`)
  return name
}

const asList: Read<readonly unknown[]> = (value, what) => {
  if (!Array.isArray(value)) throw new Malformed(`${what} are not a list`)
  return value
}

const asNames: Read<readonly string[]> = (value, what) =>
  asList(value, what).map((name) => asText(name, what))

const asRecord: Read<{ readonly [name: string]: unknown }> = (value, what) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Malformed(`${what} is not a record`)
  return value as { readonly [name: string]: unknown }
}

/** A word that this version does not know was written by a later one. */
function asWord<Word extends string>(value: unknown, what: string, words: readonly Word[]): Word {
  const text = asText(value, what)
  const word = words.find((known) => known === text)
  if (word === undefined) throw new Later(what)
  return word
}
