import { decodePayload } from '@pawl/core/internal'
import type { LogEvent } from '@pawl/core/storage'
import type { RunRecord } from '../../src/memory/tables.ts'
import { signalOf } from './family.ts'
import { countRetries, generationsOf, standingEvents } from './lives.ts'
import type { World } from './world.ts'

interface Created {
  readonly id: string
  readonly detached?: true
  readonly existed?: true
}

/** Whether the children of a run are those of its log, and it has heard of the ends that happened. */
export function findFamilyFaults(world: World, run: RunRecord, output: readonly string[]): readonly string[] {
  return [
    ...findOriginFaults(world, run),
    ...run.events.flatMap((event) => findChildFaults(world, run, event)),
    ...standingEvents(run).flatMap((event) => findHearingFaults(world, run, event)),
    ...findSendFaults(world, run, output),
  ]
}

function createdBy({ type, kind, failed, payload }: LogEvent): Created | undefined {
  const creates = type === 'created' || (type === 'settled' && kind === 'spawn' && !failed)
  if (!creates) return undefined
  const created = decodePayload(payload as Uint8Array) as Created
  return created.existed === true ? undefined : created
}

/** A child is there because the log of its parent says so. */
function findOriginFaults({ tables, deleted }: World, { id, parent }: RunRecord): readonly string[] {
  if (parent === null) return []
  const creator = tables.runs.get(parent.run)
  if (creator === undefined)
    // It may name a run that there never was.
    return deleted.has(parent.run) || !parent.run.startsWith('run ') ? [] : ['its parent is missing']
  const creations = creator.events.filter((event) => createdBy(event)?.id === id)
  const positions = new Set(creations.map(({ position }) => position))
  // A creator that is retried finds the child that it has created there.
  const isOnce = creations.length === 1 || (positions.size === 1 && countRetries(creator) > 0)
  if (isOnce && positions.has(parent.position ?? -1)) return []
  return [`the log of its parent creates it ${creations.length} times`]
}

/** The child is there, and did not outlive its parent or its scope without being told. */
function findChildFaults(
  { tables, deleted, retried }: World,
  run: RunRecord,
  event: LogEvent,
): readonly string[] {
  const created = createdBy(event)
  if (created === undefined) return []
  const { id, detached } = created
  const child = tables.runs.get(id)
  if (child === undefined) return deleted.has(id) ? [] : [`its child ${id} is missing`]
  if (child.parent?.run !== run.id) return [`its child ${id} has another parent`]
  // Its own retry made it live again. A later retry of its parent knows of it, unless it keeps how the child ended before.
  const isHeard = standingEvents(run).some(
    ({ type, kind, position }) => type === 'settled' && kind === 'child' && position === event.position,
  )
  const base = retried.get(id)
  const isAlone = base !== undefined && (base === null || base === run.base || isHeard)
  const isTold = child.cancelAt !== null || detached === true || isAlone
  const outlives = child.endedAt === null || child.endedAt > (run.endedAt ?? Number.POSITIVE_INFINITY)
  // A child that was cancelled by then may continue with a later generation, whose result it is.
  const wasCancelledSince = (at: number): boolean =>
    child.events.some((one) => one.type === 'cancelled' && one.at >= at)
  const isWithdrawn = standingEvents(run).some(
    ({ type, position, at }) =>
      type === 'withdrawn' &&
      position === event.position &&
      at < (child.endedAt ?? at + 1) &&
      !wasCancelledSince(at),
  )
  return [
    outlives && !isTold && `its child ${id} outlives it and is not cancelled`,
    isWithdrawn && !isTold && `it no longer waits for its child ${id}, which is not cancelled`,
  ].filter((fault) => fault !== false)
}

/** Each end is heard once, and as it happened. */
function findHearingFaults({ tables, deleted }: World, run: RunRecord, event: LogEvent): readonly string[] {
  const { type, kind, position, failed, payload, name } = event
  const ends = run.messages.filter((message) => message.kind === 'ended' && message.name === String(position))
  if (ends.length > countEnds(tables, run, event))
    return [`it was told ${ends.length} times of the end that position ${position} awaits`]
  if (type === 'created' && kind === 'child')
    return findUnheard(tables.runs.get(idOf(event)), run, event, ends.length)
  if (type !== 'settled' || (kind !== 'child' && kind !== 'result')) return []
  const creation = standingEvents(run).find(
    (other) => other.type === 'created' && other.position === position,
  )
  if (kind === 'child' && creation === undefined) return []
  const id = creation === undefined ? name : idOf(creation)
  const other = tables.runs.get(id)
  const failure = failed ? (decodePayload(payload as Uint8Array) as Failure) : null
  if (failure?.code === 'run-not-found' && kind === 'result') return []
  if (failure?.details?.cause?.code === 'run-quarantined')
    return other === undefined ? [] : [`it was told that ${id} is deleted, which is there`]
  if (other === undefined) return deleted.has(id) ? [] : [`it has a result of ${id}, which is missing`]
  const expected = endsOf(other)
  const heard = failure === null ? 'completed' : failure.code === 'run-cancelled' ? 'cancelled' : failure.code
  if (!expected.includes(heard ?? ''))
    return [`it heard that ${id} is ${heard}, which is ${expected.join(', ')}`]
  const end = other.events.at(-1)?.payload ?? null
  const isSameOutput = failed || String(end) === String(payload)
  return isSameOutput ? [] : [`it heard another output of ${id} than it returned`]
}

/** A child has ended while its parent waited for it, and the parent was not told. */
function findUnheard(
  child: RunRecord | undefined,
  parent: RunRecord,
  { position, seq }: LogEvent,
  told: number,
): readonly string[] {
  if (child?.endedAt == null || told > 0) return []
  // What an earlier generation has waited for, the one that was retried knows nothing of.
  if (countRetries(parent) > 0 && seq < parent.base) return []
  const isOver = (parent.endedAt ?? Number.POSITIVE_INFINITY) <= child.endedAt
  return isOver ? [] : [`it was never told of the end of ${child.id}, for which position ${position} waits`]
}

/** How often a run may be told of an end: once, and once more for each retry of it and of the run that has ended. */
function countEnds({ runs }: World['tables'], run: RunRecord, { position, name }: LogEvent): number {
  const created = run.events.filter((event) => event.type === 'created' && event.position === position)
  const others = new Set([name, ...created.map(idOf)])
  const retries = [...others].map((id) => countRetries(runs.get(id) ?? { events: [] }))
  return retries.reduce((sum, count) => sum + count, 1 + countRetries(run))
}

/** How a run has ended, each time that it did: it is heard of one of them. */
function endsOf(run: RunRecord): readonly string[] {
  return generationsOf(run).flatMap(({ events }, i, { length }) => {
    if (events.at(-1)?.type !== 'ended') return []
    if (i === length - 1) return [run.state === 'failed' ? 'run-failed' : run.state]
    // Only a run that has failed or was cancelled is retried: its log does not say which of both, if it has a cancel.
    return events.some(({ type }) => type === 'cancelled') ? ['run-failed', 'cancelled'] : ['run-failed']
  })
}

interface Failure {
  readonly code?: string
  readonly details?: { readonly cause?: { readonly code?: string } }
}

function idOf({ payload }: LogEvent): string {
  return (decodePayload(payload as Uint8Array) as Created).id
}

/** A signal is stored if and only if the log of its sender says so, once. A recorded cancel has reached its run. */
function findSendFaults(
  { tables, deleted }: World,
  run: RunRecord,
  output: readonly string[],
): readonly string[] {
  const signals = countSignals(standingEvents(run))
  // What a generation has sent whose place another one took stays sent. The other sends it again, with the same key, or not at all.
  const most = countSignals(run.events)
  const mark = `signal:${signalOf(run.id, '/')}`
  const stored = [...tables.runs.values()].flatMap(({ messages }) =>
    messages.filter(({ key }) => key?.startsWith(mark)),
  )
  const isKnown = ![...deleted].some((id) => id.startsWith(run.id))
  const faults: string[] = []
  if (isKnown && (stored.length < signals || stored.length > most))
    faults.push(`its log has ${signals} signals that it sent, and ${stored.length} are stored`)
  for (const line of output) {
    const sent = /: (?:spawn|reach) .*"?(from_\w+)"/.exec(line)?.[1]
    if (sent !== undefined && isKnown && stored.filter(({ key }) => key === `signal:${sent}`).length !== 1)
      faults.push(`it sent ${sent}, which is not stored once`)
    const cancelled = /: spawn \["([^"]+)","cancel"\]/.exec(line)?.[1]
    const child = cancelled === undefined ? undefined : tables.runs.get(cancelled)
    if (child !== undefined && child.cancelAt === null && child.endedAt === null)
      faults.push(`it cancelled ${cancelled}, which does not know`)
  }
  return faults
}

function countSignals(events: readonly LogEvent[]): number {
  return events.filter(
    ({ type, kind, name, failed }) => type === 'settled' && kind === 'send' && name !== 'cancel' && !failed,
  ).length
}
