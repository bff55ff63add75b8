import { type Line, startActor } from '../actor.ts'
import { check } from '../base/check.ts'
import { cpuMsSoFar, nowMs, until } from '../base/clock.ts'
import { openPlace } from '../places/open-place.ts'
import type { Address } from '../places/place.ts'
import { sequenceThenWait, sumOf, watched, watchedSequence } from '../procedures.ts'
import { type Figures, type Job, roundsOf, startEngine, Tally } from './workload.ts'

interface LeftBehind {
  readonly address: Address
  readonly id: string
  readonly steps: number
}

/** W6: 2,000 recorded steps, SIGKILL while the run waits; a new process starts an engine, answers, and has the result. */
export async function killAndGoOn(job: Job, line: Line): Promise<Figures> {
  const { address, size: steps = 2_000 } = job
  const tally = new Tally()
  for await (const round of roundsOf(job, line)) {
    const run: LeftBehind = { address, id: `long:${round}`, steps }
    const victim = startActor('leave behind', run)
    await victim.hear()
    await victim.kill()
    tally.add((await startActor('take up', run).result()) as { readonly [figure: string]: number })
  }
  return tally.figures
}

/** Runs until it waits, and stays to be killed. */
export async function leaveBehind({ address, id, steps }: LeftBehind, line: Line): Promise<void> {
  const engine = await startEngine(openPlace(address))
  const run = await engine.run(sequenceThenWait, steps, { id })
  await until('the run waits', async () => (await run.status()).status === 'waiting')
  line.tell('waiting')
  await line.hear()
}

export async function takeUp({
  address,
  id,
  steps,
}: LeftBehind): Promise<{ readonly [figure: string]: number }> {
  const [from, cpuFrom] = [nowMs(), cpuMsSoFar()]
  const engine = await startEngine(openPlace(address))
  const ready = nowMs()
  const run = engine.get(sequenceThenWait, id)
  await run.signal('go', 1)
  check('the sum of all steps', await run.result(), sumOf(steps) + 1)
  const [done, cpuDone] = [nowMs(), cpuMsSoFar()]
  await engine.stop()
  return {
    doneMs: done - from,
    readyMs: ready - from,
    resumeMs: done - ready,
    cpuMs: cpuDone - cpuFrom,
  }
}

const killAt = 100
const killedSteps = 200

interface Killed {
  readonly address: Address
  readonly id: string
}

/**
 * SIGKILL in the middle of a run, as one of its steps begins; then a new process that is told nothing. The same
 * is tried with the peers.
 */
export async function killInTheMiddle(job: Job, line: Line): Promise<Figures> {
  const { address } = job
  const tally = new Tally()
  for await (const round of roundsOf(job, line)) {
    const run: Killed = { address, id: `killed:${round}` }
    const victim = startActor('be killed', run)
    await victim.hear()
    await victim.kill()
    tally.add((await startActor('go on', run).result()) as { readonly [figure: string]: number })
  }
  return tally.figures
}

/** Stays in its 101st step, to be killed. */
export async function beKilled({ address, id }: Killed, line: Line): Promise<void> {
  watched.onBegin = (i) => {
    if (i < killAt) return
    line.tell('at work')
    return new Promise(() => {})
  }
  const engine = await startEngine(openPlace(address))
  await engine.run(watchedSequence, killedSteps, { id })
  await line.hear()
}

export async function goOn({ address, id }: Killed): Promise<{ readonly [figure: string]: number }> {
  const from = nowMs()
  const first = new Promise<{ readonly step: number; readonly at: number }>((resolve) => {
    watched.onBegin = (i) => resolve({ step: i, at: nowMs() })
  })
  const engine = await startEngine(openPlace(address))
  const { step, at } = await first
  check('the sum of all steps', await engine.get(watchedSequence, id).result(), sumOf(killedSteps))
  await engine.stop()
  return { keptSteps: Math.min(step, killAt), goneOnMs: at - from }
}
