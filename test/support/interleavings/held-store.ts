import { type StoreCall, type StoreMethod, wrapCalls } from '@pawl/core/internal'
import { connectTo, defineStore, type Store, type StorePort } from '@pawl/core/storage'

/** A call that has come to a stop: before the store does it, or before its caller hears of it. */
interface Stopped {
  readonly what: string
  readonly process: string
  readonly goOn: () => void
  /** It goes on once this many others have gone on, or nothing else can. */
  heldFor: number
}

/** Which stops are held up, by their ordinal, and while how many others go on. */
export type Schedule = ReadonlyMap<number, number>

/** Rounds of the event loop within which all has followed that can follow. */
const quietRounds = 8

/**
 * A store of which the given calls stop twice. One stop ends at a time, in the order of the calls, except for those that
 * the schedule holds up: the same schedule gives the same course of events.
 */
export class HeldStore {
  /** What went on, in order. */
  readonly diary: string[] = []
  readonly #inner: Store
  readonly #held: readonly StoreCall[]
  readonly #schedule: Schedule
  readonly #frozen = new Set<string>()
  #stopped: Stopped[] = []
  #stops = 0

  constructor(inner: Store, held: readonly StoreCall[], schedule: Schedule) {
    this.#inner = inner
    this.#held = held
    this.#schedule = schedule
  }

  /** The number of stops so far. */
  get stops(): number {
    return this.#stops
  }

  /** The store as a process sees it. */
  seenBy(process: string): Store {
    return defineStore(this.#inner.kind, () => {
      const connection = connectTo(this.#inner) as StorePort
      return wrapCalls(connection, (name, call) => this.#hold(name, call, process))
    })
  }

  #hold(name: StoreCall, call: StoreMethod, process: string): StoreMethod {
    if (!this.#held.includes(name)) return call
    return async (...args) => {
      await this.stop(`${name} goes`, process)
      const outcome = await call(...args)
      await this.stop(`${name} is back`, process)
      return outcome
    }
  }

  /** Stops until it is its turn. `others`: how many go on before, unless the schedule says otherwise. */
  stop(what: string, process: string, others: number = 0): Promise<void> {
    return new Promise((goOn) => {
      const heldFor = this.#schedule.get(this.#stops++) ?? others
      this.#stopped.push({ what: `${process}: ${what}`, process, goOn, heldFor })
    })
  }

  /** Nothing of the process goes on. */
  freeze(process: string): void {
    this.#frozen.add(process)
  }
  thaw(process: string): void {
    this.#frozen.delete(process)
  }

  /** Ends stops until `isOver`. False: there was none left before. */
  async run(isOver: () => boolean): Promise<boolean> {
    for (;;) {
      for (let round = 0, stops = -1; round < quietRounds; round++) {
        if (isOver()) return true
        if (stops !== this.#stops) round = 0
        stops = this.#stops
        await new Promise((next) => setImmediate(next))
      }
      const able = this.#stopped.filter(({ process }) => !this.#frozen.has(process))
      const next = able.find(({ heldFor }) => heldFor === 0) ?? able[0]
      if (next === undefined) return false
      this.#stopped = this.#stopped.filter((one) => one !== next)
      for (const one of this.#stopped) if (one.heldFor > 0) one.heldFor--
      this.diary.push(next.what)
      next.goOn()
    }
  }
}
