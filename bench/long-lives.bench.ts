// A run that continues with an empty log again and again, and runs that are deleted, on SQLite.  npm run bench -- long-lives
// EVENTS=100000 takes fewer than 1,000,000 events.
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEngine, procedure } from '@pawl/core'
import { sqlite } from '@pawl/storage-sqlite'
import { z } from 'zod'
import { check } from './base/check.ts'
import { costOf } from './base/clock.ts'
import type { PartFigure } from './report/session.ts'

const events = Number(process.env['EVENTS'] ?? 1_000_000)
/** Those of a generation: its start, and its steps. */
const perGeneration = 100
const parts = 10
/** Runs of which 95 % are deleted. */
const ended = 2_000

const endless = procedure({ name: 'endless', input: z.number() }, async (ctx, left): Promise<string> => {
  for (let n = 1; n < perGeneration; n++) await ctx.step('step', () => n)
  return left === 1 ? 'done' : ctx.continueAs(left - 1)
})
const short = procedure({ name: 'short' }, async (ctx) => {
  for (let n = 0; n < 10; n++) await ctx.step('step', () => 'x'.repeat(100))
})

export default async function run(): Promise<readonly PartFigure[]> {
  const folder = await mkdtemp(join(process.env['BENCH_FOLDER'] ?? tmpdir(), 'pawl-lives-'))
  const file = join(folder, 'pawl.db')
  const engine = await createEngine({ store: sqlite(file), procedures: [endless, short] })
  const figures: PartFigure[] = []
  const megabytes = async (): Promise<string> => `${((await stat(file)).size / 1e6).toFixed(1)} MB`
  const size = events / parts
  for (let part = 1; part <= parts; part++) {
    const id = 'endless'
    const { ms, cpuMs } = await costOf(async () => {
      const handle = await engine.runOrGet(endless, size / perGeneration, { id, ifEnded: 'again' })
      check('result', await handle.result(), 'done')
    })
    figures.push({
      ...{ what: `events ${(part - 1) * size} on`, aim: null },
      ...{ nsPerEvent: (ms * 1e6) / size, cpuNsPerEvent: (cpuMs * 1e6) / size },
    })
    console.log(
      `up to ${part * size} events: ${((cpuMs * 1e3) / size).toFixed(1)} µs an event, ${await megabytes()}`,
    )
  }
  check('generation', (await engine.get('endless').status()).generation, events / perGeneration)

  const handles = await Promise.all(
    Array.from({ length: ended }, (_, n) => engine.run(short, undefined, { id: `short ${n}` })),
  )
  await Promise.all(handles.map((handle) => handle.result()))
  const before = await megabytes()
  const gone = ended * 0.95
  const { ms, cpuMs } = await costOf(async () => {
    await engine.delete('endless')
    for (let n = 0; n < gone; n++) await engine.delete(`short ${n}`)
  })
  console.log(
    `${gone} runs deleted: ${Math.round((gone * 1e3) / ms)} a second, ${before} before, ${await megabytes()} after`,
  )
  figures.push({
    what: 'deletion',
    nsPerEvent: (ms * 1e6) / gone,
    cpuNsPerEvent: (cpuMs * 1e6) / gone,
    aim: null,
  })
  await engine.stop()
  await rm(folder, { recursive: true })
  return figures
}
