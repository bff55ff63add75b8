import { PawlError, type Procedure, type Refused } from '@pawl/core'
import { checkArray, checkObject, checkWhole, refuse } from '@pawl/core/internal'
import { checkKeys } from '@pawl/core/storage'
import type { Doubles } from './doubles.ts'
import type { Person } from './people.ts'
import { testEngine } from './test-engine.ts'

/** The inputs of `checkDeterminism`. */
export type InputsOf<In> =
  | (undefined extends In
      ? {
          readonly input?: In
          readonly inputs?: Refused<'give input for one, or inputs for several'>
        }
      : {
          /** The input of each run. */
          readonly input: In
          readonly inputs?: Refused<'give input for one, or inputs for several'>
        })
  | {
      /** Inputs that are each run, such as `fc.sample(arbitrary, 100)`. */
      readonly inputs: readonly In[]
      readonly input?: Refused<'give input for one, or inputs for several'>
    }

/** The options of `checkDeterminism`. */
export interface DeterminismOptions extends Doubles {
  /** People who answer asks. Default: none. */
  readonly humans?: readonly Person[]
  /** Other procedures, which it calls. Default: none. */
  // biome-ignore lint/suspicious/noExplicitAny: procedures of any types
  readonly procedures?: readonly Procedure<any, any, any>[]
  /** Number of runs of each input. Each has its own id and random numbers. Default: 100. Range: whole numbers from 1. */
  readonly runs?: number
  /** Seed of ids, UUIDs and random numbers. Default: 1. */
  readonly seed?: number
}

/**
 * Runs a procedure, replays every prefix of each log, and rejects at the first difference. A run that fails or is cancelled
 * is no difference. Signals do not come: a run that waits for one without a timeout rejects.
 * @throws PawlError 'nondeterminism', 'foreign-await', 'procedure-broken', 'input-invalid', 'option-invalid'
 * @example
 * test('refund replays', () => checkDeterminism(refund, { input: { orderId: 'A-1', amount: 45 }, steps: { refund: undefined } }))
 */
export async function checkDeterminism<In, Out, T>(
  procedure: Procedure<In, Out, T>,
  options: DeterminismOptions & InputsOf<NoInfer<In>>,
): Promise<void> {
  const { inputs, times, others, settings } = readOptions(options)
  const code = procedure as Procedure<unknown, Out>
  // Every event is preceded by a replay of all events before it.
  await using engine = await testEngine({
    ...{ ...settings, logger: silent, replay: 'always' },
    procedures: [code, ...others],
  })
  for (const input of inputs)
    for (let n = 0; n < times; n++) {
      const run = await engine.run(code, input)
      await run.result().catch(ignoreFailure)
      // The last turn is in no other replay.
      const [check] = await engine.check({ run: run.id })
      if (check?.verdict === 'broken') throw new Error(check.message)
      if (check?.verdict !== 'diverges') continue
      const { position, recorded, asked, at } = check
      throw new PawlError('nondeterminism', { position, recorded, asked, at })
    }
}

/** Runs may fail, and the first difference is thrown. */
const silent = { debug() {}, info() {}, warn() {}, error() {} }

/** A run may fail; it fails again in a replay. */
function ignoreFailure(error: unknown): void {
  for (const code of ['run-failed', 'run-cancelled', 'output-invalid'] as const)
    if (PawlError.is(error, code)) return
  throw error
}

// biome-ignore lint/suspicious/noExplicitAny: procedures of any types
type AnyProcedure = Procedure<any, any, any>

interface Checks {
  readonly inputs: readonly unknown[]
  /** Number of runs of each input. */
  readonly times: number
  readonly others: readonly AnyProcedure[]
  readonly settings: Omit<DeterminismOptions, 'runs' | 'procedures'>
}

function readOptions(given: object): Checks {
  const options = checkObject('options of checkDeterminism', given)
  checkKeys('the options of checkDeterminism', options, [
    ...['input', 'inputs', 'steps', 'agents', 'strict', 'humans', 'procedures', 'runs', 'seed'],
  ])
  const { input, inputs, runs = 100, procedures = [], ...settings } = options
  if (input !== undefined && inputs !== undefined)
    refuse('inputs of checkDeterminism', inputs, 'Give `input` for one, or `inputs` for several.')
  return {
    inputs: inputs === undefined ? [input] : checkArray('inputs of checkDeterminism', inputs),
    times: checkWhole('runs of checkDeterminism', runs, 1, Number.MAX_SAFE_INTEGER),
    others: checkArray('procedures of checkDeterminism', procedures) as readonly AnyProcedure[],
    settings,
  }
}
