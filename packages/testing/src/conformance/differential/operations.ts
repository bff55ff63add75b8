import type { Claimant } from '@pawl/core/storage'
import fc from 'fast-check'
import { later, longAgo } from '../builders.ts'

/**
 * One call of the port, independent of the state of the store. Runs and workers are numbers modulo the existing
 * ones. The basis of a unit is right or off by one.
 */
export type Operation =
  | { readonly do: 'register'; readonly isDoomed: boolean }
  | { readonly do: 'beat' | 'release'; readonly worker: number }
  | { readonly do: 'sweep' }
  | { readonly do: 'create'; readonly runs: readonly PlannedRun[] }
  | { readonly do: 'commit'; readonly worker: number; readonly units: readonly PlannedUnit[] }
  | { readonly do: 'send'; readonly messages: readonly PlannedMessage[]; readonly claimant: number | null }
  | { readonly do: 'answer'; readonly answers: readonly PlannedAnswer[]; readonly claimant: number | null }
  | { readonly do: 'mark'; readonly run: number; readonly epochOff: number; readonly isStuck: boolean }
  | { readonly do: 'retry'; readonly run: number; readonly isStuck: boolean }
  | {
      readonly do: 'claim' | 'retryStuck' | 'suspects'
      readonly worker: number
      readonly procedures: Claimant['procedures']
      readonly suspects: NonNullable<Claimant['suspects']>
    }
  | { readonly do: 'take'; readonly worker: number; readonly runs: readonly number[] }
  | { readonly do: 'endTest'; readonly worker: number }
  | { readonly do: 'read'; readonly run: number; readonly from: number }

export interface PlannedRun {
  readonly name: number
  readonly procedure: string
  readonly version: number | null
  readonly worker: number | null
  readonly payload: Uint8Array | null
}
export interface PlannedUnit {
  readonly run: number
  readonly epochOff: number
  readonly headOff: number
  readonly seenOff: number
  readonly events: readonly (Uint8Array | null)[]
  readonly isSealed: boolean
  readonly strict: boolean
  readonly next: 'keep' | 'park' | 'park until long ago' | 'park until later' | 'complete' | 'fail'
  readonly opens: readonly PlannedAsk[]
  readonly closes: readonly number[]
  readonly consumes: readonly number[]
  readonly info: Uint8Array | null
}
export interface PlannedAsk {
  readonly position: number
  readonly hasKey: boolean
  readonly closesAt: number | null
  readonly isAnswered: boolean
}
export interface PlannedMessage {
  readonly run: number
  readonly isEarly: boolean
  readonly name: number
  readonly key: number | null
  readonly payload: Uint8Array | null
}
export interface PlannedAnswer {
  readonly run: number
  readonly position: number
  readonly by: number
  readonly payload: Uint8Array
}

/** Few enough of each that they collide. */
const run = fc.nat(5)
const worker = fc.nat(3)
const position = fc.nat(2)
const name = fc.nat(2)
const bytes = fc.uint8Array({ maxLength: 40 })
const payload = fc.option(bytes, { freq: 8 })
/** Mostly valid. */
const off = fc.oneof({ weight: 12, arbitrary: fc.constant(0) }, fc.constantFrom(-1, 1))
const procedures: fc.Arbitrary<Claimant['procedures']> = fc.constantFrom(
  [{ name: 'refund', versions: [1, 2] }],
  [{ name: 'refund', versions: [2] }],
  [
    { name: 'order', versions: [1] },
    { name: 'refund', versions: [1] },
  ],
)
const claimant = fc.option(worker)
const ask: fc.Arbitrary<PlannedAsk> = fc.record({
  position,
  hasKey: fc.boolean(),
  closesAt: fc.constantFrom(null, null, longAgo, later),
  isAnswered: fc.nat(4).map((one) => one === 0),
})
const unit: fc.Arbitrary<PlannedUnit> = fc.record({
  run,
  epochOff: off,
  headOff: off,
  seenOff: off,
  events: fc.array(payload, { maxLength: 3 }),
  isSealed: fc.boolean(),
  strict: fc.boolean(),
  next: fc.constantFrom(
    'keep',
    'keep',
    'keep',
    'park',
    'park until long ago',
    'park until later',
    'complete',
    'fail',
  ),
  opens: fc.array(ask, { maxLength: 2 }),
  closes: fc.array(position, { maxLength: 1 }),
  consumes: fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 2 }),
  info: fc.option(bytes),
})

export const operations: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('register' as const),
      isDoomed: fc.nat(2).map((one) => one === 0),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constantFrom('beat' as const, 'beat' as const, 'release' as const),
      worker,
    }),
  },
  { weight: 3, arbitrary: fc.constant({ do: 'sweep' as const }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('create' as const),
      runs: fc.array(
        fc.record({
          name: fc.nat(60),
          procedure: fc.constantFrom('refund', 'refund', 'order'),
          version: fc.constantFrom(null, 1, 2),
          worker: fc.option(worker, { freq: 3 }),
          payload,
        }),
        { minLength: 1, maxLength: 3 },
      ),
    }),
  },
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('commit' as const),
      worker,
      units: fc.uniqueArray(unit, { minLength: 1, maxLength: 3, selector: (one) => one.run }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('send' as const),
      messages: fc.array(
        fc.record({ run, isEarly: fc.boolean(), name, key: fc.option(fc.nat(6)), payload }),
        {
          minLength: 1,
          maxLength: 3,
        },
      ),
      claimant,
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('answer' as const),
      answers: fc.array(fc.record({ run, position, by: fc.nat(3), payload: bytes }), {
        minLength: 1,
        maxLength: 2,
      }),
      claimant,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('mark' as const),
      run,
      epochOff: off,
      isStuck: fc.nat(3).map((one) => one > 0),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('retry' as const),
      run,
      isStuck: fc.nat(3).map((one) => one > 0),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom('claim' as const, 'retryStuck' as const, 'suspects' as const),
      worker,
      procedures,
      suspects: fc.constantFrom('all' as const, 'all' as const, 'unblamed' as const, 'none' as const),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('take' as const),
      worker,
      runs: fc.uniqueArray(run, { minLength: 1, maxLength: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('endTest' as const), worker }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('read' as const), run, from: fc.nat(3) }) },
)
