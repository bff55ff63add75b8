import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { Claimant, Claimed, Claims } from '../../ports/store/claims.ts'
import type { RunKey } from '../../ports/store/runs.ts'
import type { StorePort } from '../../ports/store/store.ts'
import type { SuspectStore } from '../../ports/store/suspects.ts'
import { GroupTests } from './group-tests.ts'

/** Maximum number of suspects read to choose a group. A worker has room for fewer. */
const maxListed = 2_000
/** Maximum number of attempts: workers that choose at the same moment choose the same group. */
const maxAttempts = 5
/** Minimum delay before looking again for suspects that this worker cannot execute. */
const lookAgainMs = 1_000

interface Options {
  readonly store: Pick<StorePort, 'claims' | 'suspects'>
  readonly clock: Clock
  readonly logger: Logger
}

/** Claims the suspects of a crash loop, group by group, and tests them. `group-tests.ts` decides which group is next. */
export class CrashLoopTests {
  readonly #options: Options
  readonly #tests: GroupTests
  /** Called when the next group may be claimed. */
  readonly #onTurn: () => void
  #looksAt = Number.NEGATIVE_INFINITY
  #callOff = (): void => {}

  constructor(options: Options, onTurn: () => void) {
    this.#options = options
    this.#tests = new GroupTests(options.clock)
    this.#onTurn = onTurn
  }

  /** Which suspects are claimed like other runs. */
  get claims(): NonNullable<Claimant['suspects']> {
    return this.#tests.claims
  }

  add(claimed: Claimed): void {
    this.#tests.add(claimed)
  }

  /** Called when the run has written an event, or has another owner. */
  remove(run: RunKey): void {
    if (this.#tests.remove(run)) this.#onTurn()
  }

  /** Called when the worker owns nothing any more. */
  clear(): void {
    this.#callOff()
    this.#tests.clear()
  }

  /** Claims the next group, if it is its turn. `claims`: the rest of an ordinary claim; `room`: the number of runs. */
  async takeNext(
    claimant: Claimant,
    { leavesSuspects }: Pick<Claims, 'leavesSuspects'>,
    room: number,
  ): Promise<readonly Claimed[]> {
    const { store, clock } = this.#options
    const { suspects } = store
    // Then no run was ever tested.
    if (suspects === undefined) return []
    if (this.#tests.endsInMs === 0) {
      await suspects.endTest(claimant.worker)
      this.#tests.end()
    }
    if (!leavesSuspects) this.#tests.choose([])
    else if (this.#tests.endsInMs === null && clock.elapsed() >= this.#looksAt)
      return this.#take(suspects, claimant, room)
    this.#arm()
    return []
  }

  async #take(suspects: SuspectStore, claimant: Claimant, room: number): Promise<readonly Claimed[]> {
    const { store, clock, logger } = this.#options
    const refused = new Set<RunKey>()
    for (let attempts = 0; attempts < maxAttempts && room > 0; attempts++) {
      const listed = await suspects.list(claimant, maxListed)
      const waiting = listed.filter(({ run }) => !refused.has(run))
      if (waiting.length === 0) this.#looksAt = clock.elapsed() + lookAgainMs
      const group = this.#tests.choose(waiting)
      if (group === null) break
      const runs = group.suspects.slice(0, room).map(({ run }) => run)
      const claimed = await store.claims.take(claimant, runs)
      if (claimed.length === 0) {
        // Another worker claimed them first, or their rows are damaged. There may be more.
        for (const run of runs) refused.add(run)
        continue
      }
      this.#tests.begin(group)
      for (const one of claimed) this.#tests.add(one)
      const tries = Math.max(...claimed.map((one) => one.tries))
      logger.info(
        `Testing suspects: ${claimed.length} of ${waiting.length} runs whose workers died up to ${tries} times in a row`,
      )
      this.#arm()
      return claimed
    }
    this.#arm()
    return []
  }

  #arm(): void {
    this.#callOff()
    const { endsInMs } = this.#tests
    this.#callOff = endsInMs === null ? () => {} : this.#options.clock.after(endsInMs, this.#onTurn)
  }
}
