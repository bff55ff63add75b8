import { VirtualClock } from './virtual-clock.ts'

// Read once: fake timers of a test runner must not stop the real time that virtual time is measured against.
const { setImmediate: immediate, setTimeout: timeout } = globalThis
const realNow = performance.now.bind(performance)

/** Real ms without a sign of life after which a body at work, or a test that waits, is taken to wait for virtual time. */
const maxQuietMs = 1_000
/** The same, once all that are at work have been found silent before: a look at what else goes on. */
const shortQuietMs = 20
/** At most so much of it passes between two looks: what holds the process up is no silence of a body. */
const maxYieldMs = 10
/** How often in a row everything must be seen at rest: what a test does next, it does in between. */
const looks = 4

/** Whoever lives by this time: an engine of a test. */
export interface Participant {
  /** Nothing moves; only time or the test would change that. */
  readonly isAtRest: boolean
  /** Bodies of steps and agents that have not ended; each is one object for as long as it lasts. */
  readonly atWork: readonly object[]
  /** Grows with everything that happens. */
  readonly signsOfLife: number
  /** Called at rest, before time passes. May set timers. @throws what fails the test */
  beforeTimePasses(): Promise<void>
  /** What the runs wait for, for whoever waits in vain. */
  describeWaiting(): Promise<string>
}

interface Goal {
  /** Until when time shall pass; null: until what is waited for is there, skipping what nobody needs. */
  readonly until: number | null
  readonly reach: () => void
  readonly fail: (error: unknown) => void
}

/** Makes time pass, from one timer to the next, whenever all who live by it are at rest and somebody waits. */
export class VirtualTime {
  readonly clock: VirtualClock
  readonly #participants = new Set<Participant>()
  readonly #goals = new Set<Goal>()
  /** Bodies that were found to wait for virtual time: they go on waiting until they end. */
  readonly #silent = new WeakSet<object>()
  #isPassing = false
  #joined = 0

  constructor(now: number) {
    this.clock = new VirtualClock(now)
  }

  /** How many have lived by this time. */
  get participantsSoFar(): number {
    return this.#joined
  }

  /** Returns how to leave. */
  join(participant: Participant): () => void {
    this.#joined++
    this.#participants.add(participant)
    return () => this.#participants.delete(participant)
  }

  /** Lets so much time pass; timers fire in order. */
  pass(ms: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#add({ until: this.clock.now + ms, reach: resolve, fail: reject })
    })
  }

  /** Lets time pass for as long as this is waited for, unless somebody passes time in his own measure. */
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
    // Not a moment later: who asks from now on has to begin anew.
    this.#isPassing = false
  }

  /** Whether there was one to be reached now: then whoever reached it is heard before time goes on. */
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

  /** All goals fail: time does not pass any more until somebody asks for it anew. */
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

  /** Until nothing moves, or only bodies are at work that have shown no sign of life for too long. */
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

  /** Nothing is due any more; perhaps the test itself has something in hand. */
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
      'Nothing will happen any more: no timer is set, and nobody is about to answer or signal.',
      ...waiting.filter((text) => text !== ''),
    ].join('\n')
  }
}

/** How long nothing has been heard, while the event loop came round. */
class QuietTimer {
  #silentMs = 0
  #lastAt = realNow()

  renew(): void {
    this.#silentMs = 0
  }

  /** To be asked at every breath. */
  isOver(limitMs = maxQuietMs): boolean {
    const now = realNow()
    this.#silentMs += Math.min(now - this.#lastAt, maxYieldMs)
    this.#lastAt = now
    return this.#silentMs > limitMs
  }
}

/** One round of the event loop; a rest for the processor when it takes long. */
function yieldToEventLoop(yields: number): Promise<void> {
  return new Promise((resolve) => {
    if (yields < 200) immediate(resolve)
    else timeout(resolve, 1)
  })
}
