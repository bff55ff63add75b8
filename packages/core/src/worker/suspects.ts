import type { Clock } from '../ports/clock.ts'
import type { Claimant, Claimed, Suspect } from '../ports/store/claims.ts'
import type { RunKey } from '../ports/store/runs.ts'
import { suspectTries } from '../ports/suspects.ts'

// How a run is found that kills its workers: adaptive group testing, kept in the rows of the runs.
//
// A run that workers died over twice in a row without a new event is a suspect. A worker tests the suspects that it
// claims as one group. If it dies, the test is positive, and blames the runs of this group and no other run it owns.
//
// - `tries`: deaths in a row. An event of the run sets it to 0, and with it all that follows.
// - `tested`: its owner tests it now.
// - `positives`: positive tests of groups that it was in.
// - `alone`: those in which the group was this run. At `maxCrashes` of them it is quarantined.
// - `wakeAt`: runs with equal `positives` that are due since the same instant were blamed by one death. They are a group.
//
// Suspects that were never blamed are claimed like all other runs, at full concurrency, and tested together: a crash
// loop that has nothing to do with them delays none. Where others wait that were blamed, a worker takes one group after
// another. Each has a period, or until all of it have shown an event, before the next one follows:
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
// blamed. That costs deaths, but quarantines no other run: one that is alone is tested in turn before and after the rest,
// and a death during the test of the rest that it outlived sets its `alone` to 0. So deaths from outside (SIGKILL, a process
// that fails to start) are blamed on the rest as often as on it, until the rest has as many positives.
//
// Several workers test different groups at once. They do not see what one of them has claimed, and take what waits there. No
// suspect waits longer than the periods of the groups before its own, and those periods grow with the deaths, not with the
// number of suspects.

const firstPeriodMs = 1_000
/** How much longer the period becomes with each death. */
const periodGrowth = 1.25
const maxPeriodMs = 10 * 60_000

/** How long a group that has this run is tested, if others wait. */
function periodOf({ tries }: Pick<Claimed, 'tries'>): number {
  return Math.min(maxPeriodMs, firstPeriodMs * periodGrowth ** (tries - suspectTries))
}

/** Suspects that are tested together. */
interface Group {
  /** The rest, or the name of the group that these are a part of. */
  readonly of: string
  readonly suspects: readonly Suspect[]
}

/** What a worker tests, and what it tests next. */
export class GroupTests {
  readonly #clock: Clock
  /** The runs that are tested now, with the end of their period. */
  readonly #tested = new Map<RunKey, number>()
  /** Suspects in hand that have outlived their test and made no event yet. */
  readonly #outlived = new Set<RunKey>()
  #othersWait = false
  #last: 'rest' | 'top' | null = null
  /** Groups of which half was tested here: the other half is next. */
  readonly #halved = new Set<string>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Which suspects are claimed like all other runs. */
  get claims(): NonNullable<Claimant['suspects']> {
    return this.#othersWait ? 'none' : 'unblamed'
  }

  /** Milliseconds until the test under way is over; null if there is none, or nothing waits for its end. */
  get endsInMs(): number | null {
    if (this.#tested.size === 0 || (!this.#othersWait && this.#outlived.size === 0)) return null
    return Math.max(0, Math.max(...this.#tested.values()) - this.#clock.elapsed())
  }

  add(claimed: Claimed): void {
    this.remove(claimed.run)
    if (claimed.tries >= suspectTries)
      this.#tested.set(claimed.run, this.#clock.elapsed() + periodOf(claimed))
  }

  /** The run made an event, or the worker does not own it any more. Returns whether the next group may follow now. */
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

  /** The test is over and its worker lives. */
  end(): void {
    for (const run of this.#tested.keys()) this.#outlived.add(run)
    this.#tested.clear()
  }

  /**
   * Chooses the group that is tested next.
   * @param waiting the due suspects, those with the most positives first
   * @returns null while a test is under way, or if no suspect waits that was ever blamed: an ordinary claim takes the others
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

  /** Runs of the group were taken. */
  begin({ of }: Group): void {
    this.#last = of === 'rest' ? 'rest' : 'top'
    if (of !== 'rest') this.#halved.add(of)
  }

  /** They alternate. A run that is alone is first every other time. */
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
