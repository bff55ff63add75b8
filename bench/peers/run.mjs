// One peer, one workload, one process.  Arguments: peer, workload, URL of an empty database
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'

const [, , peer, workload, url] = process.argv
const { open, durability } = await import(`./${peer}.mjs`)

const ended = new Map()
const hooks = {
  onStep: (i) => workload.startsWith('kill') && process.send({ step: i }),
  onEnd: (id) => ended.set(id, performance.now()),
}
const engine = await open(url, hooks)
const sumOf = (steps) => (steps * (steps - 1)) / 2

const workloads = {
  /** One run, its steps one after the other; timed until its body has returned. */
  async W1() {
    const rates = []
    for (let round = -1; round < 3; round++) {
      const steps = round < 0 ? 50 : engine.mostSteps
      const rate = await time([`w1:${round}`], steps)
      if (round >= 0) rates.push(rate)
    }
    return { stepsPerSecond: medianOf(rates) }
  },
  /** 200 runs of 10 steps at once; timed until the last body has returned. */
  async W2() {
    const rates = []
    for (let round = -1; round < 3; round++) {
      const ids = Array.from({ length: 200 }, (_, i) => `w2:${round}:${i}`)
      const rate = await time(ids, 10)
      if (round >= 0) rates.push(rate)
    }
    return { stepsPerSecond: medianOf(rates) }
  },
  /** A run of one step, from its start to its result. */
  async W4() {
    return latencyOf(40, async (i) => {
      const from = performance.now()
      const result = await engine.start(`w4:${i}`, 1)
      check(await result(), 0)
      return performance.now() - from
    })
  },
  /** From a signal to the end of the run. */
  async W5() {
    return latencyOf(20, async (i) => {
      const go = await engine.startWaiting(`w5:${i}`)
      await sleep(300)
      const from = performance.now()
      check(await go(i), i)
      return performance.now() - from
    })
  },
  async kill() {
    const result = await engine.start('killed', 200)
    await result()
    return {}
  },
  async 'kill: go on'() {
    if (engine.resume !== undefined) await engine.resume('killed')
    await sleep(120_000)
    return {}
  },
}

async function time(ids, steps) {
  const from = performance.now()
  const results = await Promise.all(ids.map((id) => engine.start(id, steps)))
  for (const result of results) check(await result(), sumOf(steps))
  const last = Math.max(...ids.map((id) => ended.get(id)))
  return (ids.length * steps * 1_000) / (last - from)
}

async function latencyOf(calls, call) {
  const times = []
  for (let i = -2; i < calls; i++) {
    const ms = await call(i)
    if (i >= 0) times.push(ms)
  }
  times.sort((a, b) => a - b)
  return { p50Ms: times[Math.floor(calls / 2)], p99Ms: times[Math.ceil(calls * 0.99) - 1] }
}

function medianOf(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
}

function check(actual, expected) {
  if (actual !== expected)
    throw new Error(`${JSON.stringify(actual)} in place of ${JSON.stringify(expected)}`)
}

const figures = await workloads[workload]()
process.send({ figures, durability }, () => process.exit(0))
