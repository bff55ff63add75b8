import { isDeepStrictEqual } from 'node:util'
import { procedure } from '@pawl/core'
import { type Clock, type StoreCall, systemPorts } from '@pawl/core/internal'
import { memory } from '@pawl/testing'
import { z } from 'zod'
import { startBareEngine } from '../bare-engine.ts'
import { HeldStore, type Schedule } from './held-store.ts'

const rounds = 3
const expected = Array.from({ length: rounds }, (_, i) => `${i + 1} true`)
const held: readonly StoreCall[] = [
  'runs.create',
  'claims.claim',
  'log.commit',
  'log.load',
  'mail.list',
  'mail.counters',
  'mail.send',
  'asks.answer',
]
/** Polls of a worker and of those who wait, and how much happens between two of them. */
const [polls, between] = [30, 12]
/** Longer than the lease of a worker whose clock is replaced. */
const deadMs = 2 * 3_600_000

const life = procedure(
  {
    name: 'life',
    input: z.object({ round: z.number(), heard: z.array(z.string()) }),
    signals: { n: z.number() },
  },
  async (ctx, { round, heard }): Promise<readonly string[]> => {
    await ctx.step('begin', () => round)
    const { approved } = await ctx.human.approve('Go on?', { key: 'go' })
    const all = [...heard, `${await ctx.receive('n')} ${approved}`]
    return round === rounds ? all : ctx.continueAs({ round: round + 1, heard: all })
  },
)

/** What a process says that goes on although another one has taken over. */
const fenced = /has another owner|Lease expired/

/** A clock whose timers fire when they are told. */
class Timers {
  #waiting: (() => void)[] = []
  readonly clock: Clock = {
    ...systemPorts.clock,
    after: (ms, callback) => {
      if (ms <= 0) return systemPorts.clock.after(ms, callback)
      this.#waiting.push(callback)
      return () => {
        this.#waiting = this.#waiting.filter((one) => one !== callback)
      }
    },
  }

  fire(): void {
    for (const callback of this.#waiting.splice(0)) callback()
  }
}

export interface Course {
  readonly schedule: Schedule
  /** Whether workers keep the continuations of parked runs. */
  readonly keeps: boolean
  /** Whether each signal is sent once the one before is stored. */
  readonly inTurn: boolean
  /** The number of stops after which the first process is frozen, and another one goes on. Default: never. */
  readonly freezesAt?: number
  /** The number of stops after that, after which it goes on, without knowing. Default: never, as if it was killed. */
  readonly thawsAfter?: number
}

export interface Lived {
  /** What is wrong. */
  readonly problems: readonly string[]
  readonly stops: number
  readonly diary: readonly string[]
}

/** Takes a run through its generations while signals, answers, polls and a takeover come in a given order. */
export async function liveThrough(course: Course): Promise<Lived> {
  const { schedule, freezesAt = Number.POSITIVE_INFINITY, thawsAfter = Number.POSITIVE_INFINITY } = course
  const problems: string[] = []
  let shiftMs = 0
  const place = new HeldStore(memory({ now: () => Date.now() + shiftMs }), held, schedule)
  let heard: readonly string[] | null = null
  const begin = (process: string): void => {
    const complain = (line: string): void => {
      if (!fenced.test(line)) problems.push(`${process}: ${line}`)
    }
    live(place, process, course, complain).then(
      (result) => {
        heard ??= result
      },
      (error: unknown) => problems.push(`${process}: ${String(error)}`),
    )
  }
  begin('first')
  const isOver = (): boolean => heard !== null || problems.length > 0
  await place.run(() => isOver() || place.stops >= freezesAt)
  if (!isOver() && place.stops >= freezesAt) {
    place.freeze('first')
    shiftMs = deadMs
    begin('second')
    await place.run(() => isOver() || place.stops >= freezesAt + thawsAfter)
    place.thaw('first')
    await place.run(isOver)
  }
  if (heard === null) problems.push('it never ended')
  else if (!isDeepStrictEqual(heard, expected)) problems.push(`it heard ${String(heard)}`)
  return { problems, stops: place.stops, diary: place.diary }
}

/** What a process does. Returns the result of the run. */
async function live(
  place: HeldStore,
  process: string,
  { keeps, inTurn }: Course,
  complain: (line: string) => void,
): Promise<readonly string[]> {
  const timers = new Timers()
  const { client, stop } = await startBareEngine({
    ...{ store: place.seenBy(process), procedures: [life], clock: timers.clock },
    keep: keeps ? { runs: 100, bytes: 1e6 } : { runs: 0, bytes: 0 },
    logger: { debug() {}, info() {}, warn: complain, error: complain },
  })
  const run = await client.runOrGet(life, { round: 1, heard: [] }, { id: 'life' })
  const poll = async (): Promise<void> => {
    for (let i = 0; i < polls; i++) {
      await place.stop('a poll', process, between)
      timers.fire()
    }
  }
  const answer = async (): Promise<void> => {
    for (;;) {
      const ask = await client.inbox.next({ run: 'life' })
      await client.inbox.answer(ask.id, { approved: true }, { as: 'user:ana' })
    }
  }
  const signal = async (): Promise<void> => {
    const sent = Array.from(
      { length: rounds },
      (_, i) => async () => run.signal('n', i + 1, { id: `n${i + 1}` }),
    )
    if (!inTurn) await Promise.all(sent.map((send) => send()))
    else for (const send of sent) await send()
  }
  // What comes after the end, or was done by the other process, is refused.
  for (const doing of [poll, answer, signal]) doing().catch(() => {})
  const result = await run.result()
  await stop()
  return result
}
