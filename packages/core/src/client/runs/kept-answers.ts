import { toHex } from '../../base/hex.ts'
import { refuse } from '../../checks/options.ts'
import type { LogEvent } from '../../events/event.ts'
import { generationOf } from '../../events/generation.ts'
import { decode } from '../../events/payload.ts'
import type {
  CreatedPayload,
  ForkPayload,
  GenerationPayload,
  ParentPayload,
  StartedPayload,
} from '../../events/payloads.ts'
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

/** A run from which a result has come. */
interface Source {
  readonly id: string
  /** The operation that created it; null if another did, or if that is not known. */
  readonly parent: Pick<ParentPayload, 'run' | 'position'> | null
  /** When its result was there, by which another run under its id is told from it. */
  readonly at: number
}

/**
 * Which generations before one count. `behind`: all back to the last time that a caller has begun the run. `all`: also the earlier
 * ones, and what a retry did not keep: any generation may have had the result that another run has.
 */
type Reach = 'behind' | 'all'

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

  async checkFork(original: LoggedRun, kept: readonly LogEvent[]): Promise<void> {
    await this.#checkEvents(original, kept)
    await this.#checkEarlier(original, 'behind')
  }

  async #checkEvents(logged: LoggedRun, some: readonly LogEvent[]): Promise<void> {
    for (const event of some) {
      const answer = answerIn(event)
      if (answer !== null) this.#check({ ...answer, run: logged.row.id })
    }
    for (const event of some) {
      const source = await this.#sourceOf(logged, event)
      if (source !== null) await this.#checkSource(source)
    }
  }

  async #checkSource(source: Source): Promise<void> {
    const row = await this.#findSource(source)
    if (this.#seen.has(row.run)) return
    if (this.#seen.size === maxRuns) unknown(`It keeps the results of over ${maxRuns} runs`)
    this.#seen.add(row.run)
    const logged = { row, events: await this.#readLog(row, row) }
    await this.#checkEvents(logged, logged.events)
    await this.#checkEarlier(logged, 'all')
  }

  /** Finds the run that is meant, and not one that was created later under its id. */
  async #findSource({ id, parent, at }: Source): Promise<KnownRun> {
    const found = await this.#store.runs.find(id)
    if (found === null) return unknown(`Run ${id}, whose result it keeps, is deleted`)
    const row = knownRun(found)
    const isMeant = parent === null ? row.createdAt <= at : await this.#isChildOf(row, parent)
    return isMeant
      ? row
      : unknown(`Run ${id}, whose result it keeps, is deleted, and another run has its id now`)
  }

  /** Whether an operation has created a run. Its row does not say so any more once a caller has begun it again. */
  async #isChildOf(row: KnownRun, { run, position }: NonNullable<Source['parent']>): Promise<boolean> {
    const { parent } = await this.#readStarted(row, 0)
    return parent?.run === run && parent.position === position
  }

  /** Checks the generations before one: what they found has led to the input of the next one. */
  async #checkEarlier(logged: LoggedRun, reach: Reach): Promise<void> {
    for (let one = logged; ; ) {
      const started = this.#startedIn(one)
      const { generation } = started
      // Those of the original of a fork are not copied.
      if (generation === undefined) return this.#checkOriginal(one.row, started)
      // A caller has begun this one, with an input of their own.
      if (generation.why === 'again' && reach === 'behind') return
      one = await this.#readBefore(one, generation)
      // A retry has copied what it acts upon.
      if (generation.why !== 'retried' || reach === 'all') await this.#checkEvents(one, one.events)
    }
  }

  async #checkOriginal(row: KnownRun, started: StartedPayload): Promise<void> {
    const { fork } = started
    if (fork !== undefined && fork.firstPosition > 0)
      await this.#checkEarlier(await this.#readOriginal(row, started, fork), 'behind')
  }

  async #sourceOf(logged: LoggedRun, event: LogEvent): Promise<Source | null> {
    const { type, kind, failed, position, name, payload, at } = event
    if (type !== 'settled') return null
    if (kind === 'spawn') {
      if (failed) return null
      const { id, existed } = decode(payload) as CreatedPayload
      return { id, parent: existed === true ? null : { run: logged.row.id, position }, at }
    }
    if (kind === 'result') return { id: await this.#idOf(logged, name), parent: null, at }
    if (kind !== 'child') return null
    const child = await this.#findCreated(logged, position)
    if (child !== null) return { ...child, at }
    // An operation that failed before has created none.
    return failed
      ? null
      : unknown(
          `The run of '${name}', whose result it keeps at position ${position}, is not recorded any more`,
        )
  }

  /** The id of the run of which a program means with an id: in a fork that of the fork, if there is one. */
  async #idOf(logged: LoggedRun, given: string): Promise<string> {
    const family = forkFamilyOf(logged.row.id, this.#startedIn(logged))
    if (family === null) return given
    const own = ownIdOf(this.#connection.sha256, family, given)
    return (await this.#store.runs.find(own)) === null ? given : own
  }

  /** Finds the child of a position. If a retry or a fork has copied its result, the log that it was copied from says its id. */
  async #findCreated(logged: LoggedRun, position: number): Promise<Omit<Source, 'at'> | null> {
    for (let one: LoggedRun | null = logged; one !== null; one = await this.#readCopied(one)) {
      const id = createdAt(one.events, position)
      if (id !== null) return { id, parent: { run: one.row.id, position } }
    }
    return null
  }

  /** Reads the generation of which one has copied the first events; null: it has copied none. */
  async #readCopied(logged: LoggedRun): Promise<LoggedRun | null> {
    const started = this.#startedIn(logged)
    const { generation, fork } = started
    if (generation?.why === 'retried') return this.#readBefore(logged, generation)
    return generation === undefined && fork !== undefined
      ? this.#readOriginal(logged.row, started, fork)
      : null
  }

  async #readBefore({ row, events }: LoggedRun, generation: GenerationPayload): Promise<LoggedRun> {
    const span = spanBefore({ run: row.run, base: (events[0] as LogEvent).seq }, generation)
    await this.#readStarted(row, span.base)
    return { row, events: await this.#readLog(row, span) }
  }

  /** Reads the generation that was forked. Only its forks have its seed too, and a fork of this one may have its id now. */
  async #readOriginal(copy: KnownRun, { seed }: StartedPayload, fork: ForkPayload): Promise<LoggedRun> {
    const found = await this.#store.runs.find(fork.run)
    if (found === null) return unknown(`Run ${fork.run}, of which it is a fork, is deleted`)
    const row = knownRun(found)
    for (let span: Span = row; isOlder(row, copy); ) {
      const started = await this.#readStarted(row, span.base)
      if (firstOf(started) === fork.firstPosition && toHex(started.seed) === toHex(seed))
        return { row, events: await this.#readLog(row, span) }
      if (started.generation === undefined) break
      span = spanBefore(span, started.generation)
    }
    return unknown(`Run ${fork.run}, of which it is a fork, is deleted, and another run has its id now`)
  }

  #startedIn({ row: { id }, events }: LoggedRun): StartedPayload {
    try {
      return readStarted(events[0] as LogEvent)
    } catch (error) {
      throw explainUnread(id, `The first event of run ${id}`, error)
    }
  }

  /** Reads the first event of a generation. */
  async #readStarted({ id, run }: KnownRun, base: number): Promise<StartedPayload> {
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

/** Whether a run was created before another. An import gives a run a new key, and keeps its time. */
function isOlder(one: KnownRun, other: KnownRun): boolean {
  return one.createdAt === other.createdAt ? one.run < other.run : one.createdAt < other.createdAt
}

function spanBefore(
  { run, base }: Pick<Span, 'run' | 'base'>,
  { previous, previousBase }: GenerationPayload,
): Span {
  return { run, base: previousBase, head: base, link: previous }
}

/** The position of the first operation of a generation. */
function firstOf({ generation, fork }: StartedPayload): number {
  return generation?.firstPosition ?? fork?.firstPosition ?? 0
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
