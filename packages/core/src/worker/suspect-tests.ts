import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { Claimant, Claimed, Claims } from '../ports/store/claims.ts'
import type { RunKey } from '../ports/store/runs.ts'
import type { StorePort } from '../ports/store/store.ts'
import { GroupTests } from './suspects.ts'

/** Suspects that are looked at to choose a group. A worker has room for fewer. */
const maxListed = 2_000
/** Workers that choose at the same moment choose the same group. */
const maxAttempts = 5
/** Suspects that this worker cannot execute are looked for no sooner than after this. */
const lookAgainMs = 1_000

interface Options {
  readonly store: Pick<StorePort, 'suspects' | 'take' | 'endTest'>
  readonly clock: Clock
  readonly logger: Logger
}

/** Takes the suspects that wait, group by group, and tests them. Which group follows is decided in `suspects.ts`. */
export class SuspectTests {
  readonly #options: Options
  readonly #tests: GroupTests
  /** The next group may be taken now. */
  readonly #onTurn: () => void
  #looksAt = Number.NEGATIVE_INFINITY
  #callOff = (): void => {}

  constructor(options: Options, onTurn: () => void) {
    this.#options = options
    this.#tests = new GroupTests(options.clock)
    this.#onTurn = onTurn
  }

  /** Which suspects are claimed like all other runs. */
  get claims(): NonNullable<Claimant['suspects']> {
    return this.#tests.claims
  }

  add(claimed: Claimed): void {
    this.#tests.add(claimed)
  }

  /** The run made an event, or the worker does not own it any more. */
  remove(run: RunKey): void {
    if (this.#tests.remove(run)) this.#onTurn()
  }

  /** The worker owns nothing any more. */
  clear(): void {
    this.#callOff()
    this.#tests.clear()
  }

  /** Takes the next group, if it is its turn. `claims`: what an ordinary claim has just left; `room`: for so many runs. */
  async takeNext(
    claimant: Claimant,
    { leavesSuspects }: Pick<Claims, 'leavesSuspects'>,
    room: number,
  ): Promise<readonly Claimed[]> {
    const { store, clock } = this.#options
    if (this.#tests.endsInMs === 0) {
      await store.endTest(claimant.worker)
      this.#tests.end()
    }
    if (!leavesSuspects) this.#tests.choose([])
    else if (this.#tests.endsInMs === null && clock.elapsed() >= this.#looksAt)
      return this.#take(claimant, room)
    this.#arm()
    return []
  }

  async #take(claimant: Claimant, room: number): Promise<readonly Claimed[]> {
    const { store, clock, logger } = this.#options
    const refused = new Set<RunKey>()
    for (let attempts = 0; attempts < maxAttempts && room > 0; attempts++) {
      const listed = await store.suspects(claimant, maxListed)
      const waiting = listed.filter(({ run }) => !refused.has(run))
      if (waiting.length === 0) this.#looksAt = clock.elapsed() + lookAgainMs
      const group = this.#tests.choose(waiting)
      if (group === null) break
      const runs = group.suspects.slice(0, room).map(({ run }) => run)
      const claimed = await store.take(claimant, runs)
      if (claimed.length === 0) {
        // Another worker was faster, or their rows are damaged. There may be more that wait.
        for (const run of runs) refused.add(run)
        continue
      }
      this.#tests.begin(group)
      for (const one of claimed) this.#tests.add(one)
      const tries = Math.max(...claimed.map((one) => one.tries))
      logger.info(
        `Suspects: testing ${claimed.length} of ${waiting.length} runs whose workers died up to ${tries} times in a row`,
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
