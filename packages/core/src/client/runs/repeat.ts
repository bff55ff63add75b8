import { askingsAfter } from '../../asks/askings.ts'
import { childrenOf, createdBeforeRetry } from '../../events/children.ts'
import type { LogEvent, NewEvent } from '../../events/event.ts'
import { type Generation, generationIn, originOf } from '../../events/generation.ts'
import { decode, encode, encodeRecord } from '../../events/payload.ts'
import type {
  ForkPayload,
  GenerationPayload,
  ReceivedPayload,
  RetriedChild,
  RunInfo,
  RunTimeout,
  StartedPayload,
  TimedOutPayload,
} from '../../events/payloads.ts'
import { noteOfCancel } from '../../events/read-cancelled.ts'
import { LogHash } from '../../events/seal.ts'
import { asksAgain, timesOut } from '../../kernel/flags.ts'
import type { KnownRun } from '../../ports/rows.ts'
import type { KeptSignal, NewGeneration, StayingCheckpoint } from '../../ports/store/runs.ts'
import type { StorePort } from '../../ports/store/store.ts'
import type { Connection } from '../connection.ts'
import { infoOf } from '../views/run.ts'

const checkpointsAtOnce = 500
/** A time before that of any event. */
const beforeAll = -1

/** How a generation follows one that has ended. */
export interface Repetition {
  readonly row: KnownRun
  /** The events of that generation. */
  readonly events: readonly LogEvent[]
  /** What it keeps of the events of that generation, the first event among them. */
  readonly kept: readonly LogEvent[]
  /** The children that end with it, and of whose end the kept past says nothing. */
  readonly children: readonly RetriedChild[]
}

/**
 * Composes the next generation of a run that has ended, with the past that it keeps. It has the seed and the keys of the generation
 * before it, because what it does again may have had its effect.
 */
export async function composeRepetition(
  { sha256 }: Pick<Connection, 'sha256'>,
  store: Pick<StorePort, 'checkpoints'>,
  { row, events, kept, children }: Repetition,
  { now, by }: { readonly now: number; readonly by: string | undefined },
): Promise<NewGeneration> {
  const [first, ...rest] = kept as readonly [LogEvent, ...LogEvent[]]
  const origin = decode(first.payload) as StartedPayload
  const generation = generationIn(origin, first)
  const { firstPosition } = generation
  const askings = askingsAfter(generation, events, kept)
  const createdBefore = createdBeforeRetry(generation, events, kept)
  const { flags, ...timeouts } = timeoutFrom(origin, now)
  const own = {
    ...timeouts,
    flags: [...flags.filter((flag) => flag !== asksAgain), ...(askings.length === 0 ? [] : [asksAgain])],
    ...(origin.fork === undefined ? {} : { fork: movedFork(origin.fork, row, kept) }),
    generation: {
      ...nextGeneration(row, generation),
      ...(by === undefined ? {} : { by }),
      ...retriedBeside(generation, kept, children),
      kept: rest.length,
      ...(createdBefore.length === 0 ? {} : { createdBefore }),
      ...(askings.length === 0 ? {} : { askings }),
    },
  }
  const { timeout: _, fork: __, ...same } = origin
  const started: NewEvent = { ...first, payload: encodeRecord({ ...same, ...own }, 'input') }
  const hash = new LogHash(sha256, row.link, row.head, row.head)
  hash.add(started)
  const copies = rest.map((event, index): LogEvent => {
    const copy = { ...event, seq: row.head + 1 + index }
    return { ...copy, link: hash.add(copy) }
  })
  const { forkedFrom } = infoOf(row)
  const info: RunInfo = { waiting: [], ...originOf(own.generation, forkedFrom), ...cancelIn(rest) }
  return {
    ...{ run: row.run, head: row.head, version: row.version, started, link: hash.link() },
    ...{ tags: row.tags, startedBy: row.startedBy, info: encodeRecord(info, 'info') },
    kept: {
      startedAt: first.at,
      // An earlier generation has exposed its values with its last unit at the latest. The events of this one expose the rest again.
      exposedUntil: firstPosition > 0 ? first.at : beforeAll,
      events: copies,
      cancelAt: rest.find(({ type }) => type === 'cancelled')?.at ?? null,
      signals: signalsBehind(events, kept),
      checkpoints: await checkpointsThatStay(store, row, kept, firstPosition),
    },
  }
}

/** The first cancel that the kept past records: the run is still cancelled, and shows by whom before a worker loads it. */
function cancelIn(kept: readonly LogEvent[]): Pick<RunInfo, 'cancelled'> {
  for (const event of kept) {
    const note = event.type === 'cancelled' ? noteOfCancel(event) : 'forced'
    if (note !== 'forced') return { cancelled: note }
  }
  return {}
}

function nextGeneration(row: KnownRun, generation: Generation): GenerationPayload {
  const { number, firstPosition, children, given } = generation
  return {
    ...{ number: number + 1, why: 'retried', previous: row.link, previousBase: row.base, firstPosition },
    ...(children === undefined ? {} : { children }),
    ...(given === undefined ? {} : { given }),
  }
}

/** The children of which neither the kept past nor the generation it continues says that they end with the run. */
function retriedBeside(
  { children: earlier = [] }: Generation,
  kept: readonly LogEvent[],
  children: readonly RetriedChild[],
): Pick<GenerationPayload, 'retried'> {
  const known = childrenOf({ children: earlier }, kept)
  const retried = children.filter(({ id }) => !known.has(id))
  return retried.length === 0 ? {} : { retried }
}

/** A span counts from the retry. An instant that has passed is dropped: the run would be cancelled at once. */
function timeoutFrom(
  { timeout, flags }: StartedPayload,
  now: number,
): { readonly flags: readonly string[]; readonly timeout?: RunTimeout } {
  const atMs = timeout === undefined ? 0 : 'afterMs' in timeout ? now + timeout.afterMs : timeout.atMs
  if (atMs <= now) return { flags: flags.filter((flag) => flag !== timesOut) }
  return { flags, timeout: { atMs } }
}

/** The events of a fork's own begin elsewhere in a later generation. */
function movedFork(fork: ForkPayload, row: KnownRun, kept: readonly LogEvent[]): ForkPayload {
  return { ...fork, from: row.head + kept.filter(({ seq }) => seq < fork.from).length }
}

/**
 * The checkpoints of earlier generations, and the checkpoints that the kept past records, and those of callers, each behind what is left before it.
 */
async function checkpointsThatStay(
  { checkpoints }: Pick<StorePort, 'checkpoints'>,
  { run, head, base }: KnownRun,
  kept: readonly LogEvent[],
  firstPosition: number,
): Promise<readonly StayingCheckpoint[]> {
  const recorded = new Set(kept.flatMap(({ type, position }) => (type === 'settled' ? position : [])))
  const stay: StayingCheckpoint[] = []
  if (checkpoints === undefined) return stay
  for (let before: number | null = null; ; ) {
    const page = await checkpoints.list({ run, until: null, before, limit: checkpointsAtOnce })
    for (const { n, seq, position } of page) {
      const isEarlier = seq === null ? position < firstPosition : seq <= base
      if (isEarlier) stay.push({ n, seq })
      else if (seq === null) {
        if (recorded.has(position)) stay.push({ n, seq })
      } else stay.push({ n, seq: head + kept.filter((event) => event.seq < seq).length })
    }
    if (page.length < checkpointsAtOnce) return stay
    before = page.at(-1)?.n ?? null
  }
}

/** The signals that were received by operations whose results are not kept. */
function signalsBehind(events: readonly LogEvent[], kept: readonly LogEvent[]): readonly KeptSignal[] {
  const there = new Set(kept.map(({ seq }) => seq))
  return events.flatMap(({ type, kind, failed, seq, payload }) => {
    if (type !== 'settled' || kind !== 'signal' || failed || there.has(seq)) return []
    const received = decode(payload) as ReceivedPayload | TimedOutPayload
    if ('timedOut' in received) return []
    const { name, by = null } = received
    return [{ name, by, payload: encode(received.payload, 'payload') }]
  })
}
