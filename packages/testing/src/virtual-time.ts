import { VirtualClock } from './virtual-clock.ts'

// Captured at load, so that fake timers of a test runner do not stop the measurement of real time.
const { setImmediate: immediate, setTimeout: timeout } = globalThis
const realNow = performance.now.bind(performance)

/** Real ms without activity after which a running body, or a waiting test, counts as waiting for virtual time. */
const maxQuietMs = 1_000
/** The same limit if every running body has been found silent before. */
const shortQuietMs = 20
/** Maximum ms counted between two looks, so that a blocked process is not taken for a silent body. */
const maxYieldMs = 10
/** Number of consecutive looks that must find everything at rest. The test can act between them. */
const looks = 4

/** A user of virtual time: an engine of a test. */
export interface Participant {
  /** Whether nothing can happen until time passes or the test acts. */
  readonly isAtRest: boolean
  /** Running bodies of steps and agents. Each body keeps the same object until it ends. */
  readonly atWork: readonly object[]
  /** Counter that increases with every activity. */
  readonly signsOfLife: number
  /** Called at rest, before time passes. May set timers. @throws the error that fails the test */
  beforeTimePasses(): Promise<void>
  /** Describes what the runs wait for, for the error of a wait that cannot end. */
  describeWaiting(): Promise<string>
}

interface Goal {
  /** Time to reach, in ms since 1970. Null: until the awaited promise settles, skipping idle time. */
  readonly until: number | null
  readonly reach: () => void
  readonly fail: (error: unknown) => void
}

/** Advances from one timer to the next while every participant is at rest and a goal is pending. */
export class VirtualTime {
  readonly clock: VirtualClock
  readonly #participants = new Set<Participant>()
  readonly #goals = new Set<Goal>()
  /** Bodies found to be waiting for virtual time. They count as waiting until they end. */
  readonly #silent = new WeakSet<object>()
  #isPassing = false
  #joined = 0

  constructor(now: number) {
    this.clock = new VirtualClock(now)
  }

  /** Number of participants that have ever joined. */
  get participantsSoFar(): number {
    return this.#joined
  }

  /** Adds a participant. Returns a function that removes it. */
  join(participant: Participant): () => void {
    this.#joined++
    this.#participants.add(participant)
    return () => this.#participants.delete(participant)
  }

  /** Advances time by `ms`. Timers fire in order. */
  pass(ms: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#add({ until: this.clock.now + ms, reach: resolve, fail: reject })
    })
  }

  /** Skips idle time until the promise settles, unless `pass` limits it. */
  skipFor<Result>(wait: Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      const goal: Goal = { until: null, reach: () => {}, fail: reject }
      this.#add(goal)
      wait.then(resolve, reject).finally(() => this.#goals.delete(goal))
    })
  }

  #add(goal: Goal): void {
    this.#goals.add(goal)
    if (!this.#isPassing) void this.#passWhileWanted()
  }

  async #passWhileWanted(): Promise<void> {
    this.#isPassing = true
    while (this.#goals.size > 0) {
      await this.#rest()
      const { nextAt, now } = this.clock
      if (nextAt !== null && nextAt <= now) this.clock.moveTo(now)
      else if (!this.#reachGoals()) await this.#takeStep()
    }
    // No `await` may precede this: a goal added afterwards must start a new loop.
    this.#isPassing = false
  }

  /** Settles the goals whose time has come. Returns true if there were any, so that their callers act before time passes. */
  #reachGoals(): boolean {
    const reached = [...this.#goals].filter(({ until }) => until !== null && until <= this.clock.now)
    for (const goal of reached) {
      this.#goals.delete(goal)
      goal.reach()
    }
    return reached.length > 0 || this.#goals.size === 0
  }

  async #takeStep(): Promise<void> {
    try {
      for (const participant of this.#participants) await participant.beforeTimePasses()
    } catch (error) {
      return this.#fail(error)
    }
    const limits = [...this.#goals].flatMap(({ until }) => until ?? [])
    const next = Math.min(this.clock.nextAt ?? Number.POSITIVE_INFINITY, ...limits)
    if (next !== Number.POSITIVE_INFINITY) this.clock.moveTo(next)
    else if (!(await this.#somethingHappens())) this.#fail(new Error(await this.#describeWaiting()))
  }

  /** Fails all goals. Time stops until a new goal is added. */
  #fail(error: unknown): void {
    const goals = [...this.#goals]
    this.#goals.clear()
    for (const goal of goals) goal.fail(error)
  }

  // ── rest

  get #isAtRest(): boolean {
    return [...this.#participants].every((participant) => participant.isAtRest)
  }
  get #atWork(): readonly object[] {
    return [...this.#participants].flatMap((participant) => participant.atWork)
  }
  get #signsOfLife(): number {
    let sum = 0
    for (const participant of this.#participants) sum += participant.signsOfLife
    return sum
  }

  /** Waits until everything is at rest, or only bodies without activity for too long are running. */
  async #rest(): Promise<void> {
    let signs = this.#signsOfLife
    const quietTimer = new QuietTimer()
    for (let quiet = 0, yields = 0; quiet < looks; yields++) {
      await yieldToEventLoop(yields)
      quiet = this.#isAtRest && this.#signsOfLife === signs ? quiet + 1 : 0
      if (this.#signsOfLife !== signs) quietTimer.renew()
      signs = this.#signsOfLife
      const { length } = this.#atWork
      if (length > 0 && quietTimer.isOver(this.#isAnyLoud ? maxQuietMs : shortQuietMs)) break
    }
    for (const body of this.#atWork) this.#silent.add(body)
  }

  get #isAnyLoud(): boolean {
    return this.#atWork.some((body) => !this.#silent.has(body))
  }

  /** Waits for activity of the test itself, since no timer is set. */
  async #somethingHappens(): Promise<boolean> {
    const { size } = this.#goals
    const signs = this.#signsOfLife
    const quietTimer = new QuietTimer()
    for (let yields = 0; !quietTimer.isOver(); yields++) {
      await yieldToEventLoop(yields)
      const changed = this.#signsOfLife !== signs || this.#goals.size !== size || this.clock.nextAt !== null
      if (changed || !this.#isAtRest) return true
    }
    return false
  }

  async #describeWaiting(): Promise<string> {
    const waiting = await Promise.all(
      [...this.#participants].map((participant) => participant.describeWaiting()),
    )
    return [
      'The wait cannot end: no timer is set, and no answer or signal is expected.',
      ...waiting.filter((text) => text !== ''),
    ].join('\n')
  }
}

/** Measures the time without activity, excluding time during which the process was blocked. */
class QuietTimer {
  #silentMs = 0
  #lastAt = realNow()

  renew(): void {
    this.#silentMs = 0
  }

  /** Returns whether the limit is exceeded. Must be called at every round of the event loop. */
  isOver(limitMs = maxQuietMs): boolean {
    const now = realNow()
    this.#silentMs += Math.min(now - this.#lastAt, maxYieldMs)
    this.#lastAt = now
    return this.#silentMs > limitMs
  }
}

/** Waits one round of the event loop, or 1 ms once there have been many. */
function yieldToEventLoop(yields: number): Promise<void> {
  return new Promise((resolve) => {
    if (yields < 200) immediate(resolve)
    else timeout(resolve, 1)
  })
}
