import { connectTo, type WholeStore } from '@pawl/core/storage'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { memorySubject } from '../memory-subject.ts'
import type { Place, StoreSubject } from '../subject.ts'
import { type Operation, operations } from './operations.ts'
import { Player } from './player.ts'
import { Tally } from './tally.ts'

/** Options of `storeDifferential`. */
export interface DifferentialOptions {
  /** Number of operation streams. Default: 80. */
  readonly streams?: number
  /** Maximum length of a stream. Default: 200. */
  readonly length?: number
  /** Minimum number of times that each kind of operation must succeed and be refused. Default: 1. */
  readonly atLeast?: number
  /** Seed of the streams, printed on failure. Default: a random one. */
  readonly seed?: number
  /** Time after which a hanging test fails, in ms. Default: 15 minutes. */
  readonly timeoutMs?: number
}

/**
 * Plays random streams of operations on the memory store and on another store. All outcomes and all stored data must
 * be equal, payloads byte by byte. A failure prints its seed and the shortest failing stream.
 */
export function storeDifferential(subject: StoreSubject, options: DifferentialOptions = {}): void {
  const { streams = 80, length = 200, atLeast = 1, timeoutMs = 900_000 } = options
  const seed = options.seed ?? Math.floor(Math.random() * 2 ** 31)
  const stream = fc.array(operations, { maxLength: length, size: 'max' })
  describe(`store ${subject.name} beside store ${memorySubject.name}`, () => {
    it(`${streams} streams of up to ${length} operations have the same outcomes`, {
      timeout: timeoutMs,
    }, async () => {
      const tally = new Tally()
      const property = fc.asyncProperty(stream, (given) => playBoth(subject, given, tally))
      await fc.assert(property, { numRuns: streams, seed })
      console.log(`${subject.name}, seed ${seed}: ${tally.show()}`)
      tally.expectAtLeast(atLeast)
    })
  })
}

async function playBoth(subject: StoreSubject, given: readonly Operation[], tally: Tally): Promise<void> {
  const [expected, actual] = [await openStore(memorySubject), await openStore(subject)]
  // The first worker.
  const stream: Operation[] = [{ do: 'register', isDoomed: false }, ...given]
  try {
    for (const [index, operation] of stream.entries()) {
      const model = expected.player.readModel(await expected.place.dump())
      const outcome = await expected.player.play(operation, model)
      expect(await actual.player.play(operation, model), `operation ${index}, ${operation.do}`).toEqual(
        outcome,
      )
      tally.count(operation.do, outcome)
      if (index % 20 === 0 || index === stream.length - 1) {
        const [kept, wanted] = [await actual.place.dump(), await expected.place.dump()]
        expect(actual.player.showDump(kept), `after operation ${index}`).toEqual(
          expected.player.showDump(wanted),
        )
      }
    }
  } finally {
    await expected.close()
    await actual.close()
  }
}

interface OpenStore {
  readonly place: Place
  readonly player: Player
  close(): Promise<void>
}

async function openStore(subject: StoreSubject): Promise<OpenStore> {
  const place = await subject.make()
  const port = connectTo(place.store)
  if (!port) throw new Error('The store was not made by defineStore.')
  await port.open()
  return {
    place,
    // Every concern is played.
    player: new Player(port as WholeStore),
    async close() {
      await port.close()
      await place.remove()
    },
  }
}
