import { connectTo } from '@pawl/core/storage'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { memorySubject } from '../memory-subject.ts'
import type { Place, StoreSubject } from '../subject.ts'
import { type Operation, operations } from './operations.ts'
import { Player } from './player.ts'
import { Tally } from './tally.ts'

/** The options of `storeDifferential`. */
export interface DifferentialOptions {
  /** How many streams of operations. Default 80. */
  readonly streams?: number
  /** How long a stream is at most. Default 200. */
  readonly length?: number
  /** Every kind of operation must have succeeded and been refused at least this often. Default 1. */
  readonly atLeast?: number
  /** Default: another one every time. It is printed. */
  readonly seed?: number
  /** Time after which the test fails. Default 15 minutes: it only ends what hangs. */
  readonly timeoutMs?: number
}

/**
 * Random streams of operations on the memory store and on another: every outcome and everything that is kept
 * must be the same, payloads byte by byte. A failure prints its seed and the shortest stream that shows it.
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
    player: new Player(port),
    async close() {
      await port.close()
      await place.remove()
    },
  }
}
