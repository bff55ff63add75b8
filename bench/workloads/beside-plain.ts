import { createEngine, type Procedure } from '@pawl/core'
import type { Line } from '../actor.ts'
import { check } from '../base/check.ts'
import { timeOf } from '../base/clock.ts'
import { openPlace } from '../places/open-place.ts'
import { errorsOnly, type Figures, type Job, roundsOf, Tally, warmUpFor } from './workload.ts'

/** A procedure that returns how many operations it has executed: as many as it was asked for. */
export type Counting = Procedure<number, number>

export interface Pair {
  readonly own: Counting
  /** The same without what is measured. */
  readonly plain: Counting
  /** Further procedures that they call. */
  readonly others?: readonly Counting[]
}

/** Times both procedures in each round, and in every other round in the other order. `show` returns the figures of a round. */
export async function besidePlain(
  job: Job,
  line: Line,
  { own, plain, others = [] }: Pair,
  show: (ownMs: number, plainMs: number, count: number) => { readonly [figure: string]: number },
): Promise<Figures> {
  const count = job.size ?? 1_000
  const procedures = [own, plain, ...others]
  const engine = await createEngine({ store: openPlace(job.address).store(), logger: errorsOnly, procedures })
  const tally = new Tally()
  const time = (of: Counting): Promise<number> =>
    timeOf(async () => check('the number of operations', await (await engine.run(of, count)).result(), count))
  await warmUpFor(job, async () => {
    await time(own)
    await time(plain)
  })
  for await (const round of roundsOf(job, line)) {
    const isOwnFirst = round % 2 === 0
    const first = await time(isOwnFirst ? own : plain)
    const second = await time(isOwnFirst ? plain : own)
    const [ownMs, plainMs] = isOwnFirst ? [first, second] : [second, first]
    tally.add(show(ownMs, plainMs, count))
  }
  await engine.stop()
  return tally.figures
}

/** The throughput of both, and the time of the one over that of the other. */
export function ratesOf(
  ownMs: number,
  plainMs: number,
  count: number,
): { readonly [figure: string]: number } {
  return {
    perSecond: (count / ownMs) * 1_000,
    plainPerSecond: (count / plainMs) * 1_000,
    ratio: ownMs / plainMs,
  }
}
