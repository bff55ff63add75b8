import type { ChildSpec } from '../../authoring/operations.ts'
import { readSignalArgs } from '../../authoring/signal/arguments.ts'
import { whenKnown } from '../../base/when-known.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import { isUnread, LogDamaged } from '../../events/codec.ts'
import type { LogEvent } from '../../events/event.ts'
import { decode } from '../../events/payload.ts'
import type { EndedPayload, ForkFamily, ParentPayload } from '../../events/payloads.ts'
import { readStarted } from '../../events/read-started.ts'
import { validate } from '../../host/run-schema.ts'
import type { ChildRun, RunRow } from '../../ports/store/runs.ts'
import { composeStart, isSameInput } from '../../runs/check-start.ts'
import { deriveChildId } from '../../runs/child-id.ts'
import { ownIdOf } from '../../runs/fork-family.ts'
import { topicOfNote } from '../../runs/imported-children.ts'
import { hashRun } from '../../runs/new-run.ts'
import type { OtherRuns } from '../activities/activity.ts'
import { LogReader, passOn, ReadFailed, readAgainMs } from './log-reader.ts'
import { endedPayload } from './relatives.ts'
import type { RunState } from './state.ts'

/** The other runs of a run, as its activities see them. */
export function createOtherRuns(run: RunState, keyOf: (position: number) => string): OtherRuns {
  const { services } = run
  const count = (root: string, limit: number): Promise<number> =>
    untilRead(run, () => services.store.runs.countDescendants(root, limit))
  const own = (family: ForkFamily, id: string): string => ownIdOf(services.sha256, family, id)
  const givenTo = ({ id }: ChildSpec): string | null => {
    const { family } = run.continuation
    return id === null || family === null ? id : own(family, id)
  }
  return {
    compose(child, position, isCalled) {
      const root = rootOf(run)
      const parent: ParentPayload = {
        ...{ run: run.id, position, depth: depthOf(run) + 1, isCalled },
        ...(root === null ? {} : { root }),
        ...(child.isDetached ? { detached: true } : {}),
        ...(run.continuation.family === null ? {} : { fork: run.continuation.family }),
      }
      const request = {
        ...startOf(child),
        by: run.continuation.start.by ?? null,
        // Derived from the seed too: an earlier run of this id had other children.
        id: givenTo(child) ?? deriveChildId(run.id, position, keyOf(position)),
        parent,
        trace: run.continuation.trace,
      }
      const ports = { entropy: services.entropy, sha256: services.sha256, validate }
      const compose = (): ChildRun | Promise<ChildRun> =>
        whenKnown(composeStart(ports, request), ({ run: unhashed }): ChildRun => {
          const { worker, ...hashed } = hashRun(services.sha256, unhashed, null)
          return { ...hashed, parent: { run: run.id, position } }
        })
      // What a root creates itself, its own bounds limit.
      return root === null ? compose() : whenKnown(services.families.admit(root, count), compose)
    },
    isBeingCreated: (id) => run.outbox.creates(id),
    find: (id) => untilRead(run, () => services.store.runs.find(id)),
    comesLater: (id) => comesLater(run, id),
    warnOfMissing(id) {
      services.remarks.warn(
        `child ${id} of ${run.id}`,
        `Run "${run.id}" was imported, and waits for its child "${id}", which is missing from this store. Import the child, or cancel the run`,
        { run: run.id, child: id },
      )
    },
    hasInput: (row, child, given) => untilRead(run, () => hasInput(run, row, child, given)),
    readEnd: (row) => untilRead(run, () => readEnd(run, row)),
    address(id, isTouched) {
      const { family } = run.continuation
      if (family === null) return id
      const ownId = own(family, id)
      return comesLater(run, ownId) ? ownId : untilRead(run, () => address(run, family, ownId, id, isTouched))
    },
    readSignal: (schema, args) =>
      whenKnown(readSignalArgs(schema, args, validate), (content) => {
        const { family } = run.continuation
        const { key } = content
        return family === null || key === null ? content : { ...content, key: own(family, key) }
      }),
  }
}

function comesLater({ mailbox }: RunState, id: string): boolean {
  return !mailbox.isEmpty && mailbox.all(topicOfNote(id)).length > 0
}

/** The number of runs above a run. */
function depthOf(run: RunState): number {
  return run.continuation.parent?.depth ?? 0
}

/** The topmost run above a run; null if there is none. Above a run of an earlier version: its parent. */
function rootOf({ continuation: { parent } }: RunState): string | null {
  return parent === null ? null : (parent.root ?? parent.run)
}

function startOf({ procedure, code, input, id }: ChildSpec): {
  readonly procedure: string
  readonly code: ChildSpec['code']
  readonly input: unknown
  readonly isRepeatable: boolean
  readonly tags: readonly string[]
} {
  // Another start may meet only an id that was given.
  return { procedure, code, input: decode(input), isRepeatable: id !== null, tags: [] }
}

/** Returns the run that a program of a fork means with an id. @throws PawlError 'run-shared' */
async function address(
  { services }: RunState,
  { originals }: ForkFamily,
  own: string,
  id: string,
  isTouched: boolean,
): Promise<string> {
  const { store } = services
  if ((await store.runs.find(own)) !== null) return own
  if (!isTouched) return id
  for (let above: string | undefined = id; above !== undefined; ) {
    if (originals.includes(above)) throw new PawlError('run-shared', { run: id, original: above })
    above = (await store.runs.find(above))?.parent?.run
  }
  return id
}

/** Compares the input of another run, as the input of a repeated start is. */
async function hasInput(
  { services }: RunState,
  { id, run, base }: RunRow,
  child: ChildRun,
  given: Uint8Array | null,
): Promise<boolean> {
  const [first] = await services.store.log.load(run, base, 1)
  try {
    if (first === undefined) throw new LogDamaged('it has no log')
    const recorded = readStarted(first)
    return isSameInput(services.sha256, recorded, { run: child, given: { value: () => decode(given) } })
  } catch (error) {
    if (!isUnread(error)) throw error
    throw new PawlError('run-quarantined', { run: id, reason: error.message })
  }
}

/** Reads the end of another run, verified with its whole log. @throws LogDamaged, WrittenLater, ReadFailed */
async function readEnd(
  { services }: RunState,
  { id, run, head, base, link, state }: RunRow,
): Promise<EndedPayload> {
  const { store, sha256 } = services
  let last: LogEvent | undefined
  for await (const page of new LogReader(store, sha256, run, { head, base, link }).pages()) last = page.at(-1)
  if (last?.type !== 'ended' || typeof state === 'number' || state === 'live')
    throw new LogDamaged('its log does not end with the end of the run')
  return endedPayload(id, state, last)
}

/** Repeats a read that the store did not answer. */
async function untilRead<Value>(run: RunState, read: () => Promise<Value>): Promise<Value> {
  const { clock, logger } = run.services
  for (;;) {
    try {
      return await read().catch((error: unknown) => {
        if (error instanceof LogDamaged || error instanceof ReadFailed || PawlError.is(error)) throw error
        return passOn(error)
      })
    } catch (error) {
      if (!(error instanceof ReadFailed) || run.isOver) throw error
      logger.error(`Run "${run.id}" could not read another run; retrying`, { error: error.cause })
      await new Promise<void>((resolve) => clock.after(readAgainMs, resolve))
    }
  }
}
