import { existsSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createClient } from '@pawl/core'
import { bundle, temporaryFolder } from '../../bundle.ts'
import { readEffects } from '../effects.ts'
import type { Killed } from '../kill-at-every-write.ts'
import { openStore } from '../open-store.ts'
import type { Place } from '../place.ts'
import type { KillMoment } from '../sabotage.ts'
import { WorkerProcess } from '../worker-process.ts'
import { lastGeneration, lives } from './lives.ts'

interface Options {
  readonly makePlace: () => Promise<Place>
  readonly when: KillMoment
  /** Which writes. Default: each, up to the end. */
  readonly at?: readonly number[]
  readonly env?: Readonly<Record<string, string>>
}

/** More than a worker makes; its heartbeats count. */
const maxWrites = 200
/** Far more than the second worker takes. */
const longestMs = 120_000

/**
 * A worker continues runs, begins them again, retries, forks, deletes and imports them, once for each of its writes, around which it
 * kills itself. A second one goes on. Returns what is wrong then.
 */
export async function killLives({ makePlace, when, at, env = {} }: Options): Promise<Killed> {
  const program = await bundle(new URL('../../../programs/life-worker.ts', import.meta.url).pathname)
  const problems: string[] = []
  let killed = 0
  for (const n of at ?? Array.from({ length: maxWrites }, (_, i) => i + 1)) {
    const [place, folder] = [await makePlace(), await temporaryFolder()]
    const first = new WorkerProcess(program, [place.location, folder], { ...env, KILL_AT: `${n}:${when}` })
    await first.ended()
    const wasKilled = !existsSync(join(folder, 'done'))
    if (wasKilled) await goOn(new WorkerProcess(program, [place.location, folder], env))
    const found = await findProblems(place, folder)
    problems.push(...found.map((problem) => `killed ${when} write ${n}: ${problem}`))
    await Promise.all([place.remove(), rm(folder, { recursive: true })])
    if (!wasKilled) break
    killed++
  }
  await rm(join(program, '..'), { recursive: true })
  return { killed, problems }
}

/** Waits for the end of a worker; one that hangs is ended, and found by what it has not done. */
async function goOn(worker: WorkerProcess): Promise<void> {
  const timer = setTimeout(() => void worker.kill(), longestMs)
  await worker.ended()
  clearTimeout(timer)
}

async function findProblems({ location }: Place, folder: string): Promise<readonly string[]> {
  const read = (name: string): Buffer => readFileSync(join(folder, name))
  if (!existsSync(join(folder, 'done'))) return ['the second worker did not come to the end']
  const client = createClient({ store: openStore(location) })
  const [life, flaky, fork] = await Promise.all(
    ['life', 'flaky', 'fork'].map((id) => client.get(id).status()),
  )
  const names = async (id: string): Promise<string> =>
    (await client.log(id)).execution_log.map(({ name }) => name).join()
  const isOf = async (wanted: readonly [what: string, is: unknown, shouldBe: unknown][]): Promise<string[]> =>
    wanted.flatMap(([what, is, shouldBe]) =>
      String(is) === String(shouldBe) ? [] : [`${what} is ${String(is)}, not ${String(shouldBe)}`],
    )
  const problems = await isOf([
    ['what was heard', JSON.parse(String(read('heard'))), lives.map((n) => `${n} true`)],
    ['the generation', life?.generation, lastGeneration],
    ['the result', await client.get('life').result(), 'again'],
    ['the end of the retried run', flaky?.status, 'completed'],
    ['the end of the fork', fork?.status, 'completed'],
    ['the log of the retried run', await names('flaky'), 'load,loaded,charge,ship'],
    ['the log of the fork', await names('fork'), 'load,loaded,charge,ship'],
    ['the number of runs', (await client.list({ limit: 100 })).items.length, 3],
    ['the open asks', (await client.inbox.list({})).items.length, 0],
    ['the exported run, imported and exported,', read('life again.pawl').equals(read('life.pawl')), true],
  ])
  await client.stop()
  return [...problems, ...findRepeats(join(folder, 'ledger'))]
}

/** One kill repeats the one step that was under way, with the same key. What a fork keeps is not done again. */
function findRepeats(ledger: string): readonly string[] {
  const effects = readEffects(ledger)
  const keysOf = new Map<string, Set<string>>()
  for (const { run, step, key } of effects)
    keysOf.set(`${run}: ${step}`, (keysOf.get(`${run}: ${step}`) ?? new Set()).add(key))
  const wanted = [
    ...[...lives, 9].map((round) => `life: begin ${round}`),
    ...['flaky: load', 'flaky: charge', 'flaky: ship', 'fork: ship'],
  ]
  const done = [...keysOf.keys()]
  const several = [...keysOf].filter(([, keys]) => keys.size > 1).map(([step]) => step)
  return [
    ...(done.toSorted().join() === wanted.toSorted().join() ? [] : [`done was ${done.join()}`]),
    ...several.map((step) => `${step} had several idempotency keys`),
    ...(effects.length > wanted.length + 1 ? [`${effects.length} effects of ${wanted.length} steps`] : []),
  ]
}
