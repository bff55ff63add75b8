import { type Actions, procedure, type Task } from '@pawl/core'
import { z } from 'zod'
import type { Line } from '../actor.ts'
import { besidePlain } from './beside-plain.ts'
import type { Figures, Job } from './workload.ts'

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

/** A plan of many tasks in 10 layers, beside the same steps without a plan. */
export function planOfMany(job: Job, line: Line): Promise<Figures> {
  return besidePlain(job, line, { own: planning, plain: layering }, (totalMs, plainMs) => ({
    totalMs,
    plainMs,
    ratio: totalMs / plainMs,
  }))
}
