import type { ContinueRequest } from '../../authoring/generations/continue-as.ts'
import type { ProcedureOperation } from '../../authoring/operations.ts'
import { issuesOf } from '../../base/issues.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import type { LogEvent, WrittenEvent } from '../../events/event.ts'
import { originOf } from '../../events/generation.ts'
import { decode, encodeRecord } from '../../events/payload.ts'
import type { GenerationPayload, RunInfo } from '../../events/payloads.ts'
import { validate } from '../../host/run-schema.ts'
import type { Pending } from '../../kernel/operation.ts'
import type { Claimed } from '../../ports/store/claims.ts'
import type { Effect, Unit } from '../../ports/store/log.ts'
import type { Message } from '../../ports/store/mail.ts'
import { checkInput, hashOfGiven } from '../../runs/check-start.ts'
import { composeRun } from '../../runs/new-run.ts'
import { writtenEvent } from '../../runs/run-event.ts'
import type { Draft } from '../activities/activity.ts'
import { cancelledEvent, recordCancelAgain } from './cancelling.ts'
import { type Ending, failWith } from './ending.ts'
import { effectsOf, eventsOf } from './outbox.ts'
import type { RunState } from './state.ts'
import { givenBackBy } from './unanswered.ts'

/** Maximum number of children that a generation takes over; the oldest are detached. */
const maxChildren = 1_000

/** A run after its next generation was begun, as if it was just claimed. */
export interface NextGeneration {
  readonly claimed: Claimed
  /** The first events of the generation. */
  readonly events: readonly LogEvent[]
  /** The messages that no earlier generation has used. */
  readonly messages: readonly Message[]
}

/** Checks the input of the next generation. A run that cannot continue with it fails. */
export async function continueWith(
  state: RunState,
  { input }: ContinueRequest,
  left: readonly Pending<ProcedureOperation>[],
): Promise<Ending> {
  const code = state.continuation.start.definition
  const checked = await checkInput({ validate }, { code, input: decode(input) })
  if (!checked.ok) {
    const error = new PawlError('input-invalid', issuesOf(checked), {
      next: 'The run could not continue with it, and fails.',
      remedy: 'Correct the input of `ctx.continueAs`.',
    })
    return { ...failWith(error, left), skips: 'the procedure had returned ctx.continueAs()' }
  }
  return { state: 'completed', failure: null, payload: null, left, next: { input: checked.value } }
}

/**
 * Composes the unit that begins the next generation: it closes what the present one has left, and is strict. A cancel that was
 * recorded after the procedure had returned is for the next generation, as one is that arrives later.
 */
export function composeNext(
  state: RunState,
  input: unknown,
  sent: readonly Draft[],
  withdrawn: readonly Draft[],
  answers: readonly Effect[],
): Unit {
  const { log, mailbox, continuation, published, services, cancelled } = state
  const drafts = [...sent, ...withdrawn]
  const { number } = continuation.generation
  const { base, ...unit } = log.appendGeneration(eventsOf(drafts), (previous) => [
    composeStarted(state, input, previous),
    ...(cancelled === null ? [] : [cancelledEvent(recordCancelAgain(cancelled))]),
  ])
  const next: RunInfo = {
    ...{ waiting: [], ...originOf({ number: number + 1 }, continuation.forkedFrom) },
    ...(cancelled === null ? {} : { cancelled }),
  }
  const shown = published?.take(next, () => next, services.time.now())
  const effects: readonly Effect[] = [
    ...effectsOf(drafts),
    ...answers,
    ...(shown?.effects ?? []),
    { do: 'begin-generation', base },
    { do: 'show', info: encodeRecord(shown?.info ?? next, 'info') },
  ]
  return { ...unit, seen: mailbox.seen, strict: true, next: { do: 'keep' }, effects }
}

/** Returns the run as its worker continues it, once the unit is written. */
export function nextGeneration(state: RunState, written: readonly LogEvent[], unit: Unit): NextGeneration {
  const { claimed, log, mailbox } = state
  const first = written.findIndex(({ type }) => type === 'started')
  const events = written.slice(first)
  const base = log.head - events.length
  return {
    claimed: {
      ...claimed,
      ...{ epoch: log.epoch, head: log.head, base, mail: mailbox.seen, link: unit.link ?? claimed.link },
      ...{ tries: 0, positives: 0, alone: 0, mark: 'none' },
    },
    events,
    messages: [...mailbox.unread, ...givenBackBy(state, unit)].sort((a, b) => a.n - b.n),
  }
}

/** The first event of the next generation. It has a new seed: random values and keys of steps do not repeat. */
function composeStarted(state: RunState, input: unknown, previous: Uint8Array): WrittenEvent {
  const { id, claimed, continuation, log, services } = state
  const { generation, start, parent, timeoutAt, nextPosition, notes } = continuation
  const origin = start.payload()
  const { by, tags } = origin
  const children = notes.children.slice(-maxChildren)
  const next: GenerationPayload = {
    number: generation.number + 1,
    why: 'continued',
    previous,
    previousBase: log.base,
    firstPosition: nextPosition,
    ...(children.length === 0 ? {} : { children }),
    given: hashOfGiven(services.sha256, origin),
  }
  const { started } = composeRun({
    ...{ id, procedure: claimed.procedure, version: claimed.version, isChecked: true, input, given: null },
    ...{ seed: services.entropy.bytes(16), by, tags, parent: parent ?? undefined },
    timeout: timeoutAt === null ? null : { atMs: timeoutAt },
    generation: next,
    trace: continuation.trace,
    forkedFrom: origin.forkedFrom,
    family: origin.family,
  })
  return writtenEvent(started)
}
