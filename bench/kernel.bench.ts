// The kernel and its drain, from memory: no store, no decoding.  npm run bench -- kernel
import { drain, Execution, type Operation, type Program, turns } from '@pawl/core/internal'
import type { LogEvent } from '@pawl/core/storage'
import { check } from './base/check.ts'
import { costOf } from './base/clock.ts'
import { show } from './report/numbers.ts'
import type { PartFigure } from './report/session.ts'

const read = (): number => 1

/** A procedure of so many operations, and the log that is recorded of it. */
export interface Shape {
  readonly program: (operations: number) => Program
  readonly log: (operations: number) => readonly LogEvent[]
}

const names = Array.from({ length: 10 }, (_, i) => `step ${i}`)
const nameOf = (i: number): string => names[i % names.length] as string
const stepOf = (i: number): Operation => ({ kind: 'step', name: nameOf(i), read })

export const oneByOne: Shape = {
  program: (operations) => async (issue) => {
    let sum = 0
    for (let i = 0; i < operations; i++) sum += (await issue(stepOf(i))) as number
    return sum
  },
  log: (operations) => [started, ...Array.from({ length: operations }, (_, i) => settled(i, i, 0))],
}

const inParallel = (width: number): Shape => ({
  program: (operations) => async (issue) => {
    let sum = 0
    for (let i = 0; i < operations; i += width) {
      const results = await Promise.all(Array.from({ length: width }, (_, j) => issue(stepOf(i + j))))
      sum += results.length
    }
    return sum
  },
  log: (operations) => [
    started,
    ...Array.from({ length: operations }, (_, i) =>
      settled(i, i - (i % width), Math.floor((i % width) / names.length)),
    ),
  ],
})

const started = eventOf({ seq: 0, type: 'started', position: -1, kind: null })

function settled(position: number, turn: number, nth: number): LogEvent {
  return eventOf({
    seq: position + 1,
    type: 'settled',
    position,
    kind: 'step',
    turn,
    nth,
    name: nameOf(position),
  })
}

function eventOf(given: Pick<LogEvent, 'seq' | 'type' | 'position' | 'kind'> & Partial<LogEvent>): LogEvent {
  const { seq, type, position, kind, turn = 0, nth = 0, name = '' } = given
  return {
    seq,
    at: 1_000_000 + seq,
    epoch: 1,
    link: null,
    type,
    position,
    turn,
    nth,
    kind,
    name,
    failed: false,
    tookMs: null,
    payload: null,
  }
}

export function executionOf(program: Program): Execution {
  const chance = { random: () => 0, uuid: () => '' }
  return new Execution({ id: 'bench', program, turns, determinism: 'off', chance })
}

export function deliver(execution: Execution, events: readonly LogEvent[]): Promise<void> {
  execution.enqueue(events)
  return new Promise((resolve) => drain(execution, resolve))
}

interface Best {
  readonly ns: number
  readonly cpuNs: number
}

/** The best of several: what else the machine does can only add to it. */
async function best(events: number, rounds: number, work: () => Promise<void>): Promise<Best> {
  let [ns, cpuNs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (let round = 0; round < rounds; round++) {
    const { ms, cpuMs } = await costOf(work)
    ns = Math.min(ns, (ms * 1e6) / events)
    cpuNs = Math.min(cpuNs, (cpuMs * 1e6) / events)
  }
  return { ns, cpuNs }
}

function replay(shape: Shape, operations: number, rounds: number): Promise<Best> {
  const log = shape.log(operations)
  return best(operations, rounds, async () => {
    const execution = executionOf(shape.program(operations))
    await deliver(execution, log)
    const decision = execution.decide()
    check('replay', [decision.state, 'output' in decision && decision.output], ['completed', operations])
  })
}

/** Many runs that wait, one event for each at a time: what a worker does with a commit of many runs. */
function liveTurns(runs: number, operations: number): Promise<Best> {
  const log = oneByOne.log(operations)
  return best(runs * (operations + 1), 5, async () => {
    const executions = Array.from({ length: runs }, () => executionOf(oneByOne.program(operations)))
    for (const event of log) await Promise.all(executions.map((execution) => deliver(execution, [event])))
    check('live', executions.filter((execution) => execution.decide().state === 'completed').length, runs)
  })
}

export default async function run(): Promise<readonly PartFigure[]> {
  const figures: PartFigure[] = []
  const tell = (what: string, { ns, cpuNs }: Best, aim: number | null = null): void => {
    figures.push({ what, nsPerEvent: ns, cpuNsPerEvent: cpuNs, aim })
    const perSecond = Math.round(1e9 / ns).toLocaleString('en')
    const note = aim === null ? '' : `aim ${aim.toLocaleString('en')}: ${1e9 / ns >= aim ? 'met' : 'NOT MET'}`
    console.log(
      `${what.padEnd(34)}${show(ns).padStart(9)}${show(cpuNs).padStart(9)}${perSecond.padStart(15)}  ${note}`,
    )
  }
  console.log(`Node ${process.version}; best of several rounds`)
  console.log(`${''.padEnd(34)}${'ns'.padStart(9)}${'CPU ns'.padStart(9)}${'deliveries/s'.padStart(15)}`)

  tell('200,000 steps, one by one', await replay(oneByOne, 200_000, 15), 1_000_000)
  for (const width of [10, 100, 10_000])
    tell(`200,000 steps, ${width.toLocaleString('en')} at once`, await replay(inParallel(width), 200_000, 8))

  for (const length of [100, 1_000, 10_000, 100_000, 1_000_000])
    tell(
      `a log of ${length.toLocaleString('en')} events`,
      await replay(oneByOne, length, Math.max(5, 500_000 / length)),
    )

  for (const runs of [1, 10, 1_000])
    tell(
      `live, commits of ${runs.toLocaleString('en')} runs`,
      await liveTurns(runs, Math.min(2_000, 50_000 / runs)),
    )
  return figures
}
