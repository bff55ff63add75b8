// `explore`: how many paths of a procedure it executes in a second.  npm run bench -- explore
import { procedure } from '@pawl/core'
import { explore } from '@pawl/testing'
import { check } from './base/check.ts'
import { costOf } from './base/clock.ts'
import type { PartFigure } from './report/session.ts'

/** Each answer is a branch: 128 paths. */
const sevenQuestions = procedure({ name: 'seven questions' }, async (ctx) => {
  let yes = 0
  for (const n of [1, 2, 3, 4, 5, 6, 7])
    if ((await ctx.human.approve(`Question ${n}?`, { timeout: '1h', onTimeout: 'reject' })).approved) yes++
  return yes
})

/** Three questions, six steps and a sleep, on each of 8 paths. */
const tenOperations = procedure({ name: 'ten operations' }, async (ctx) => {
  let sum = 0
  for (const n of [1, 2, 3]) {
    sum += await ctx.step(`read ${n}`, () => n)
    const { approved } = await ctx.human.approve(`Add ${n}?`)
    sum += await ctx.step(`add ${n}`, () => (approved ? n : 0))
  }
  await ctx.sleep('1d')
  return sum
})

export default async function run(): Promise<readonly PartFigure[]> {
  const figures: PartFigure[] = []
  const cases = [
    { what: 'seven questions', code: sevenQuestions, paths: 128, times: 5, aim: null },
    { what: 'ten operations', code: tenOperations, paths: 8, times: 60, aim: 1_000 },
  ] as const
  for (const { what, code, paths, times, aim } of cases) {
    let [ns, cpuNs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
    for (let round = 0; round < 8; round++) {
      const { ms, cpuMs } = await costOf(async () => {
        for (let n = 0; n < times; n++) check('paths', (await explore(code, undefined)).paths, paths)
      })
      ns = Math.min(ns, (ms * 1e6) / (times * paths))
      cpuNs = Math.min(cpuNs, (cpuMs * 1e6) / (times * paths))
    }
    figures.push({ what, nsPerEvent: ns, cpuNsPerEvent: cpuNs, aim })
    const note =
      aim === null ? '' : `  aim ${aim.toLocaleString('en')}: ${1e9 / ns >= aim ? 'met' : 'NOT MET'}`
    console.log(
      `${what.padEnd(18)}${Math.round(1e9 / ns)
        .toLocaleString('en')
        .padStart(8)} paths/s${note}`,
    )
  }
  return figures
}
