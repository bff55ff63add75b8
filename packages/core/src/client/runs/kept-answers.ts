import { refuse } from '../../checks/options.ts'
import type { LogEvent } from '../../events/event.ts'
import { generationOf } from '../../events/generation.ts'
import { decode } from '../../events/payload.ts'
import type { CreatedPayload, GenerationPayload, StartedPayload } from '../../events/payloads.ts'
import { readStarted } from '../../events/read-started.ts'
import type { KnownRun } from '../../ports/rows.ts'
import type { StorePort } from '../../ports/store/store.ts'
import { forkFamilyOf, ownIdOf } from '../../runs/fork-family.ts'
import type { Connection } from '../connection.ts'
import { knownRun } from '../find-run.ts'
import { readLogPages } from '../log/pages.ts'
import type { KeptAnswer } from '../types.ts'
import { explainUnread } from '../unread.ts'
import { answerIn } from './fork-edit.ts'
import type { LoggedRun } from './questions.ts'

/** How many other runs are looked at for the answers that came through them. */
const maxRuns = 1_000

/** A generation of a run, as `readLogPages` reads it. */
type Span = Pick<KnownRun, 'run' | 'base' | 'head' | 'link'>

type Check = (answer: KeptAnswer) => void

/**
 * Calls `check` with each answer of a person upon which a fork acts: the answers in the events that it keeps, in the runs whose results
 * it keeps and the runs below them, and in the generations before its own. One that cannot be known refuses the fork.
 * @param kept the events that the fork keeps as they are
 * @throws PawlError 'option-invalid', 'run-quarantined'; what `check` throws
 */
export async function checkKeptAnswers(
  connection: Connection,
  original: LoggedRun,
  kept: readonly LogEvent[],
  check: Check,
): Promise<void> {
  await new KeptAnswers(connection, await connection.store(), check).checkFork(original, kept)
}

class KeptAnswers {
  readonly #connection: Connection
  readonly #store: StorePort
  readonly #check: Check
  /** The runs that were looked at. */
  readonly #seen = new Set<number>()

  constructor(connection: Connection, store: StorePort, check: Check) {
    this.#connection = connection
    this.#store = store
    this.#check = check
  }

  async checkFork({ row, events }: LoggedRun, kept: readonly LogEvent[]): Promise<void> {
    await this.#checkEvents(row, events, kept)
    await this.#checkEarlier(row, firstPositionOf(row, events[0] as LogEvent))
  }

  async #checkEvents(row: KnownRun, events: readonly LogEvent[], some: readonly LogEvent[]): Promise<void> {
    for (const event of some) {
      const answer = answerIn(event)
      if (answer !== null) this.#check({ ...answer, run: row.id })
    }
    for (const event of some)
      for (const id of await this.#runsBehind(row, events, event)) await this.#checkRun(id)
  }

  async #checkRun(id: string): Promise<void> {
    const found = await this.#store.runs.find(id)
    if (found === null) return unknown(`Run ${id}, whose result it keeps, is deleted`)
    if (this.#seen.has(found.run)) return
    if (this.#seen.size === maxRuns) unknown(`It keeps the results of over ${maxRuns} runs`)
    this.#seen.add(found.run)
    const row = knownRun(found)
    const events = await this.#readLog(row, row)
    await this.checkFork({ row, events }, events)
  }

  /** Checks the generations of a run whose positions are before `end`: what they found has led to the input of the next one. */
  async #checkEarlier(row: KnownRun, end: number): Promise<void> {
    for (let span: Span = row; ; ) {
      const started = await this.#readStarted(row, span)
      const { generation, fork } = started
      if (generation === undefined) {
        // Those of the original of a fork are not copied.
        if (fork !== undefined && fork.firstPosition > 0)
          await this.#checkEarlierOf(fork.run, fork.firstPosition)
        return
      }
      // A caller has begun this one, with an input of their own.
      if (generation.why === 'again' && generation.firstPosition <= end) return
      span = spanBefore(span, generation)
      if (firstOf(await this.#readStarted(row, span)) >= end) continue
      const events = await this.#readLog(row, span)
      await this.#checkEvents(row, events, events)
    }
  }

  async #checkEarlierOf(id: string, end: number): Promise<void> {
    const found = await this.#store.runs.find(id)
    if (found === null) return unknown(`Run ${id}, of which it is a fork, is deleted`)
    await this.#checkEarlier(knownRun(found), end)
  }

  /** Returns the ids of the runs from which a result has come. */
  async #runsBehind(row: KnownRun, events: readonly LogEvent[], event: LogEvent): Promise<readonly string[]> {
    const { type, kind, failed, position, name, payload } = event
    if (type !== 'settled') return []
    if (kind === 'spawn') return failed ? [] : [(decode(payload) as CreatedPayload).id]
    if (kind === 'result') return this.#named(row, events[0] as LogEvent, name)
    if (kind !== 'child') return []
    const id = createdAt(events, position) ?? (await this.#findCreated(row, position))
    if (id !== null) return [id]
    // An operation that failed before has created none.
    return failed
      ? []
      : unknown(
          `The run of '${name}', whose result it keeps at position ${position}, is not recorded any more`,
        )
  }

  /** The run of which a program means with an id: in a fork that of the fork, if there is one. */
  async #named(row: KnownRun, first: LogEvent, id: string): Promise<readonly string[]> {
    const family = forkFamilyOf(row.id, decode(first.payload) as StartedPayload)
    if (family === null) return [id]
    const own = ownIdOf(this.#connection.sha256, family, id)
    return (await this.#store.runs.find(own)) === null ? [id] : [own]
  }

  /** Finds the child of a position whose result a retry or a fork has copied: the log that it was copied from says its id. */
  async #findCreated(row: KnownRun, position: number): Promise<string | null> {
    for (let span: Span = row; ; ) {
      const { generation, fork } = await this.#readStarted(row, span)
      const isCopy = generation?.why === 'retried'
      if (isCopy) span = spanBefore(span, generation)
      else {
        const original = fork === undefined ? null : await this.#store.runs.find(fork.run)
        if (original === null) return null
        const from = knownRun(original)
        const id = createdAt(await this.#readLog(from, from), position)
        return id ?? this.#findCreated(from, position)
      }
      const id = createdAt(await this.#readLog(row, span), position)
      if (id !== null) return id
    }
  }

  async #readStarted({ id, run }: KnownRun, { base }: Span): Promise<StartedPayload> {
    const [first] = await this.#store.log.load(run, base, 1)
    if (first?.seq !== base) return unknown(`An earlier generation of run ${id} is deleted`)
    try {
      generationOf(base, first)
      return readStarted(first)
    } catch (error) {
      throw explainUnread(id, `The log of run ${id}`, error)
    }
  }

  async #readLog({ id }: KnownRun, span: Span): Promise<readonly LogEvent[]> {
    const events: LogEvent[] = []
    try {
      for await (const page of readLogPages(this.#store, this.#connection.sha256, span)) events.push(...page)
    } catch (error) {
      throw explainUnread(id, `The log of run ${id}`, error)
    }
    return events
  }
}

function spanBefore({ run, base }: Span, { previous, previousBase }: GenerationPayload): Span {
  return { run, base: previousBase, head: base, link: previous }
}

/** The position of the first operation of a generation. */
function firstOf({ generation, fork }: StartedPayload): number {
  return generation?.firstPosition ?? fork?.firstPosition ?? 0
}

function firstPositionOf({ id }: KnownRun, first: LogEvent): number {
  try {
    return firstOf(readStarted(first))
  } catch (error) {
    throw explainUnread(id, `The first event of run ${id}`, error)
  }
}

function createdAt(events: readonly LogEvent[], at: number): string | null {
  const created = events.find(({ type, position }) => type === 'created' && position === at)
  return created === undefined ? null : (decode(created.payload) as CreatedPayload).id
}

function unknown(why: string): never {
  return refuse(
    'from of fork',
    'a place behind it',
    `The fork would act upon answers whose givers cannot be known. ${why}. Fork before that, or let the original continue.`,
  )
}
