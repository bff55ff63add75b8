import { sealDecisions } from '../asks/seal-decisions.ts'
import type { Sha256 } from '../base/hash.ts'
import { nextRound } from '../host/rounds.ts'
import { findHolder } from '../ports/held-runs.ts'
import type { Logger } from '../ports/logger.ts'
import { isCheckpointExpired, isExpired, type RetentionRules, ruleOf } from '../ports/retention.ts'
import type { CheckpointStore } from '../ports/store/checkpoints.ts'
import { feedKeptMs } from '../ports/store/feed.ts'
import type { ContinuedRun, EndedRun, RemovalStore } from '../ports/store/removals.ts'
import type { RunKey } from '../ports/store/runs.ts'
import type { StorePort } from '../ports/store/store.ts'

/** Runs, and checkpoints, that one execution looks through. */
const span = 1_000
/** Maximum runs removed in one transaction. */
const batchSize = 100
/** Maximum rows of a table that one transaction deletes. */
const clearSize = 2_000

type Store = Pick<StorePort, 'now' | 'runs' | 'log' | 'feed' | 'removals' | 'checkpoints'>

/** Deletes the runs and decisions that have been kept long enough, a part of the runs at a time. */
export class RetentionChore {
  readonly #store: Store
  readonly #rules: RetentionRules
  readonly #logger: Logger
  readonly #isWorking: () => boolean
  readonly #onRemoved: (run: RunKey) => void
  readonly #sha256: Sha256
  /** Where the next part begins; null: at the newest run. */
  #before: RunKey | null = null
  /** The number of the checkpoint where the next part begins; null: at the newest one. */
  #beforeCheckpoint: number | null = null
  /** The ended runs of each procedure since the newest run. */
  readonly #seen = new Map<string, number>()

  constructor(
    store: Store,
    rules: RetentionRules,
    logger: Logger,
    isWorking: () => boolean,
    onRemoved: (run: RunKey) => void,
    sha256: Sha256,
  ) {
    this.#store = store
    this.#rules = rules
    this.#logger = logger
    this.#isWorking = isWorking
    this.#onRemoved = onRemoved
    this.#sha256 = sha256
  }

  async run(): Promise<void> {
    const { removals, checkpoints } = this.#store
    const now = await this.#store.now()
    const next = removals === undefined ? null : await this.#removePart(removals, now)
    if (checkpoints !== undefined) await this.#dropCheckpoints(checkpoints, now)
    this.#before = next
  }

  /** Removes what is over among the next part of the runs. Returns where the part after it begins. */
  async #removePart(removals: RemovalStore, now: number): Promise<RunKey | null> {
    const { runs, continued, next } = await removals.ended(this.#before, span)
    if (this.#before === null) this.#seen.clear()
    const expired: EndedRun[] = []
    for (const run of runs) if (this.#isOver(run, now) && !(await this.#isHeld(run))) expired.push(run)
    let count = 0
    for (let first = 0; first < expired.length && this.#isWorking(); first += batchSize) {
      const batch = expired.slice(first, first + batchSize)
      const outcomes = await removals.remove(batch.map(({ run }) => run))
      const removed = batch.filter((_, i) => outcomes[i] === 'removed')
      for (const { run } of removed) this.#onRemoved(run)
      for (const run of removed) await sealDecisions(removals, this.#sha256, run)
      count += removed.length
      await this.#clear(removals)
    }
    // Also what a killed process has left behind.
    await this.#clear(removals)
    for (const one of continued) await this.#drop(removals, one, now)
    await this.#forget(removals, now)
    if (count > 0) this.#logger.info(`Deleted ${count} runs, as \`retention\` says`)
    return next
  }

  /** Runs come newest first, so those beyond the number that their procedure keeps are known without a count. */
  #isOver(run: EndedRun, now: number): boolean {
    const { procedure } = run
    const newer = this.#seen.get(procedure) ?? 0
    this.#seen.set(procedure, newer + 1)
    const keep = ruleOf(this.#rules, procedure)?.keep ?? null
    return (keep !== null && newer >= keep) || isExpired(this.#rules, run, now)
  }

  /** Whether a live run may still ask for its result. */
  async #isHeld({ id, parent }: EndedRun): Promise<boolean> {
    if (parent === null) return false
    const row = await this.#store.runs.find(id)
    return row !== null && (await findHolder(this.#store, row)) !== null
  }

  /** Deletes the checkpoints of completed runs, which no call finds, and checkpoints that have been kept long enough. */
  async #dropCheckpoints(checkpoints: CheckpointStore, now: number): Promise<void> {
    const places = await checkpoints.places({
      run: null,
      before: this.#beforeCheckpoint,
      limit: span,
    })
    const gone = places.filter((place) => isCheckpointExpired(this.#rules, place, now))
    for (let first = 0; first < gone.length && this.#isWorking(); first += batchSize)
      await checkpoints.remove(gone.slice(first, first + batchSize).map(({ n }) => n))
    this.#beforeCheckpoint = places.length < span ? null : (places.at(-1)?.n ?? null)
  }

  async #drop(removals: RemovalStore, { run, procedure }: ContinuedRun, now: number): Promise<void> {
    const keptMs = ruleOf(this.#rules, procedure)?.generations ?? null
    if (keptMs === null) return
    while (this.#isWorking() && (await removals.dropGeneration(run, now - keptMs, clearSize)) > 0)
      await nextRound()
  }

  /** Deletes the entries of the feed that have been kept long enough. */
  async trimFeed(): Promise<void> {
    const before = (await this.#store.now()) - feedKeptMs
    while (this.#isWorking() && (await this.#store.feed.trim(before, clearSize)) === clearSize)
      await nextRound()
  }

  async #clear(removals: RemovalStore): Promise<void> {
    while ((await removals.clear(clearSize)) && this.#isWorking()) await nextRound()
  }

  async #forget(removals: RemovalStore, now: number): Promise<void> {
    const isLimited = [...this.#rules.values()].some(({ decisions }) => decisions !== null)
    if (!isLimited) return
    for (const procedure of await removals.decidedProcedures()) {
      const keptMs = ruleOf(this.#rules, procedure)?.decisions ?? null
      if (keptMs === null) continue
      while ((await removals.forgetDecisions(procedure, now - keptMs, clearSize)) === clearSize)
        await nextRound()
    }
  }
}
