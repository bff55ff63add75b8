import { type Actions, createEngine, type Procedure, procedure, type Task } from '@pawl/core'
import { z } from 'zod'
import type { Line } from '../actor.ts'
import { check } from '../base/check.ts'
import { timeOf } from '../base/clock.ts'
import { openPlace } from '../places/open-place.ts'
import { errorsOnly, type Figures, type Job, roundsOf, Tally, warmUpFor } from './workload.ts'

const layers = 10
const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i)

const use = { act: { run: ({ i }: { i: number }) => i } } as const satisfies Actions

/** Tasks in layers: each task needs one of the layer before. */
function tasksOf(count: number): readonly Task<'act'>[] {
  const width = Math.ceil(count / layers)
  return numbers(count).map((i) => ({
    ...{ id: `task ${i}`, use: 'act', params: { i } },
    needs: i < width ? [] : [`task ${i - width}`],
  }))
}

const planning = procedure(
  { name: 'planning', input: z.number(), output: z.number() },
  async (ctx, count) => Object.keys((await ctx.plan(tasksOf(count), { use })).results).length,
)

/** The same steps by hand, a layer after the other. */
const layering = procedure(
  { name: 'layering', input: z.number(), output: z.number() },
  async (ctx, count) => {
    const width = Math.ceil(count / layers)
    let done = 0
    for (const layer of numbers(layers)) {
      const ids = numbers(count).slice(layer * width, (layer + 1) * width)
      done += (await Promise.all(ids.map((i) => ctx.step(`task ${i}`, () => i)))).length
    }
    return done
  },
)

type Counting = Procedure<number, number>

/** A plan of many tasks in 10 layers, beside the same steps without a plan. Each round runs both, and in the next in the other order. */
export async function planOfMany(job: Job, line: Line): Promise<Figures> {
  const count = job.size ?? 1_000
  const place = openPlace(job.address)
  const procedures = [planning, layering]
  const engine = await createEngine({ store: place.store(), logger: errorsOnly, procedures })
  const tally = new Tally()
  const time = (code: Counting): Promise<number> =>
    timeOf(async () => check('the number of tasks', await (await engine.run(code, count)).result(), count))
  await warmUpFor(job, async () => {
    await time(planning)
    await time(layering)
  })
  for await (const round of roundsOf(job, line)) {
    const [first, second] = round % 2 === 0 ? [planning, layering] : [layering, planning]
    const [firstMs, secondMs] = [await time(first), await time(second)]
    const [planMs, plainMs] = round % 2 === 0 ? [firstMs, secondMs] : [secondMs, firstMs]
    tally.add({ totalMs: planMs, plainMs, ratio: planMs / plainMs })
  }
  await engine.stop()
  return tally.figures
}
