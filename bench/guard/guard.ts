// Fails when a step or a replay costs clearly more processor time than it should, whatever the machine and
// whatever else it does. Time is counted in units of work that is done in between, and of each the best of
// several rounds counts. Now and then the compiler of a process makes something worse of the same code, so
// what looks too dear is tried again in another process, up to three in all.
//   npm run bench:guard
//   npm run bench:guard -- --slow 2        as if the engine were half as fast: must fail
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { show } from '../report/numbers.ts'
import { ceilings, type Watched } from './ceilings.ts'

const { values: options } = parseArgs({ options: { slow: { type: 'string', default: '1' } } })
const names = Object.keys(ceilings) as Watched[]
const maxAttempts = 3

const min = new Map<Watched, number>()
const isGood = (name: Watched): boolean => (min.get(name) ?? Number.NaN) <= ceilings[name].max
for (let attempt = 0; attempt < maxAttempts && !names.every(isGood); attempt++) {
  const ratios = await measureRatios()
  for (const name of names) min.set(name, Math.min(ratios[name], min.get(name) ?? ratios[name]))
}
for (const name of names) {
  const { title, max } = ceilings[name]
  const ratio = show(min.get(name) ?? Number.NaN)
  console.log(
    `${isGood(name) ? 'ok    ' : 'FAILED'}  ${title.padEnd(74)}${ratio.padStart(6)}, at most ${show(max)}`,
  )
}
if (!names.every(isGood)) process.exitCode = 1

async function measureRatios(): Promise<{ readonly [name in Watched]: number }> {
  const child = fork(new URL('./attempt.js', import.meta.url), [options.slow])
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`an attempt ended with ${code} before it had measured`)
  })
  const [ratios] = await Promise.race([once(child, 'message'), ended])
  ended.catch(() => {})
  return ratios as { readonly [name in Watched]: number }
}
