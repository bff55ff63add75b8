import type { Clock } from '../../ports/clock.ts'
import { suspectTries } from '../../ports/crash-loops.ts'
import type { Claimant, Claimed } from '../../ports/store/claims.ts'
import type { RunKey } from '../../ports/store/runs.ts'
import type { Suspect } from '../../ports/store/suspects.ts'

// Crash-loop detection: finds a run that kills its workers, by adaptive group testing. Its state is in the rows of the runs.
//
// A run whose worker died twice in a row without a new event is a suspect. A worker tests the suspects that it claims as
// one group. If the worker dies, the test is positive, and blames the runs of this group and no other run it owns.
//
// - `tries`: deaths in a row. An event of the run resets it, and all of the following, to 0.
// - `tested`: its owner is testing it.
// - `positives`: positive tests of groups that contained it.
// - `alone`: positive tests of groups with this run only. At `maxCrashes` of them it is quarantined.
// - `wakeAt`: runs with equal `positives` that are due since the same instant were blamed by one death. They are a group.
//
// Suspects that were never blamed are claimed like other runs, at full concurrency, and tested together: an unrelated
// crash loop delays none of them. If blamed suspects wait, a worker claims one group after another. Each group is tested
// for a period, or until every run in it has written an event, before the next one follows:
//
// 1. the rest: all suspects with fewer positives than the most;
// 2. half of the group with the most positives, the oldest if there are several;
// 3. its other half.
//
// A death during the test of one half leaves that half with more positives than the other, which belongs to the rest from
// then on. So a run that always kills is alone after about log2(n) deaths. A group that outlives its period is no longer
// tested: its runs remain suspects, and a later death is blamed on the group that followed. Two runs that both kill are
// blamed by different deaths as soon as they are in different halves, and each is found within its own group.
//
// The period grows with each death, so that it exceeds the time that the run takes to kill. Until then a wrong group may be
// blamed. That costs deaths, but quarantines no other run: a run that is alone is tested in turn before and after the rest,
// and a death during the test of the rest resets its `alone` to 0 if it outlived its own test. So external deaths (SIGKILL,
// a process that fails to start) are blamed on the rest as often as on it, until the rest has as many positives.
//
// Several workers test different groups at once. They do not see the claims of another worker, and claim the waiting
// suspects. No suspect waits longer than the periods of the groups before its own, and those periods grow with the deaths,
// not with the number of suspects.

const firstPeriodMs = 1_000
/** Growth of the period with each death. */
const periodGrowth = 1.25
const maxPeriodMs = 10 * 60_000

/** Returns how long a group with this run is tested while others wait. */
function periodOf({ tries }: Pick<Claimed, 'tries'>): number {
  return Math.min(maxPeriodMs, firstPeriodMs * periodGrowth ** (tries - suspectTries))
}

/** Suspects that are tested together. */
interface Group {
  /** The rest, or the name of the group that these are a part of. */
  readonly of: string
  readonly suspects: readonly Suspect[]
}

/** Tracks what a worker tests, and what it tests next. */
export class GroupTests {
  readonly #clock: Clock
  /** The runs being tested, with the end of their period. */
  readonly #tested = new Map<RunKey, number>()
  /** Owned suspects that have outlived their test and have not written an event. */
  readonly #outlived = new Set<RunKey>()
  #othersWait = false
  #last: 'rest' | 'top' | null = null
  /** Groups of which one half was tested here: the other half is next. */
  readonly #halved = new Set<string>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Which suspects are claimed like other runs. */
  get claims(): NonNullable<Claimant['suspects']> {
    return this.#othersWait ? 'none' : 'unblamed'
  }

  /** Milliseconds until the current test is over; null if there is none, or if nothing waits for its end. */
  get endsInMs(): number | null {
    if (this.#tested.size === 0 || (!this.#othersWait && this.#outlived.size === 0)) return null
    return Math.max(0, Math.max(...this.#tested.values()) - this.#clock.elapsed())
  }

  add(claimed: Claimed): void {
    this.remove(claimed.run)
    if (claimed.tries >= suspectTries)
      this.#tested.set(claimed.run, this.#clock.elapsed() + periodOf(claimed))
  }

  /** Removes a run that has written an event or has another owner. Returns whether the next group may follow. */
  remove(run: RunKey): boolean {
    this.#outlived.delete(run)
    return this.#tested.delete(run) && this.#tested.size === 0 && this.#othersWait
  }

  clear(): void {
    this.#tested.clear()
    this.end()
    this.#outlived.clear()
    this.#rest()
  }

  /** Ends the test, which the worker has survived. */
  end(): void {
    for (const run of this.#tested.keys()) this.#outlived.add(run)
    this.#tested.clear()
  }

  /**
   * Chooses the next group to test.
   * @param waiting the due suspects, most positives first
   * @returns null during a test, or if no waiting suspect was ever blamed: an ordinary claim handles the others
   */
  choose(waiting: readonly Suspect[]): Group | null {
    const [first] = waiting
    this.#othersWait = first !== undefined && first.positives > 0
    if (first === undefined || !this.#othersWait) {
      this.#rest()
      return null
    }
    if (this.#tested.size > 0) return null
    const { positives, dueAt } = first
    const top = waiting.filter((one) => one.positives === positives && one.dueAt === dueAt)
    const rest = waiting.filter((one) => one.positives < positives)
    if (rest.length > 0 && this.#isTurnOfRest(top)) return { of: 'rest', suspects: rest }
    const name = `${positives} ${dueAt}`
    const half = this.#halved.has(name) ? top.length : Math.ceil(top.length / 2)
    return { of: name, suspects: top.slice(0, half) }
  }

  /** Records that runs of the group were claimed. */
  begin({ of }: Group): void {
    this.#last = of === 'rest' ? 'rest' : 'top'
    if (of !== 'rest') this.#halved.add(of)
  }

  /** Whether it is the turn of the rest. They alternate; a run that is alone goes first every other time. */
  #isTurnOfRest(top: readonly Suspect[]): boolean {
    if (this.#last !== null) return this.#last === 'top'
    const [run] = top
    return run === undefined || top.length > 1 || run.alone % 2 === 1
  }

  #rest(): void {
    this.#othersWait = false
    this.#last = null
    this.#halved.clear()
  }
}
