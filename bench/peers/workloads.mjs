import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { check, quantileOf, sumOf } from './arithmetic.mjs'

const killAt = 100
const killedSteps = 200

/**
 * What a process does with a peer, by name. `open()` starts the peer; figures are arrays, one value a round.
 * The job has `address`, `rounds`, the `pace` (see base/pace.ts) and what the one who started this process knows
 * of the run that is left.
 */
export const workloads = {
  /** One run, its steps one after the other. */
  async W1({ open, watch, maxSteps = 1_000, job: { rounds, pace } }) {
    const engine = await open()
    const rates = []
    const steps = Math.min(maxSteps, 1_000)
    const once = (round) => timeBodies(engine, watch, 'sequence', [`w1:${round}`], steps)
    await warmUp(pace, once)
    for (let round = 0; round < rounds; round++) rates.push((steps * 1_000) / (await once(round)))
    return { stepsPerSecond: rates }
  },

  /** 200 runs of 10 steps at once. */
  async W2({ open, watch, job: { rounds, pace } }) {
    const engine = await open()
    const [runs, steps] = [200, 10]
    const [rates, disk] = [[], []]
    const once = (round) => {
      const ids = Array.from({ length: runs }, (_, i) => `w2:${round}:${i}`)
      return timeBodies(engine, watch, 'sequence', ids, steps)
    }
    await warmUp(pace, once)
    for (let round = 0; round < rounds; round++) {
      const before = await engine.diskBytes?.()
      const ms = await once(round)
      rates.push((runs * steps * 1_000) / ms)
      if (before !== undefined) disk.push(((await engine.diskBytes()) - before) / runs / steps)
    }
    return { stepsPerSecond: rates, diskBytesPerStep: disk }
  },

  /** One run that begins 500 steps at once. */
  async W3({ open, watch, job: { rounds, pace } }) {
    const engine = await open()
    const times = []
    const once = (round) => timeBodies(engine, watch, 'fan', [`w3:${round}`], 500)
    await warmUp(pace, once)
    for (let round = 0; round < rounds; round++) times.push(await once(round))
    return { totalMs: times }
  },

  /** One run that begins 1,000 runs at once, each of which does one step's work in its body. */
  async children({ open, watch, maxSteps = 1_000, job: { rounds, pace } }) {
    const engine = await open()
    const rates = []
    const count = Math.min(maxSteps, 1_000)
    const once = (round) => timeBodies(engine, watch, 'parent', [`children:${round}`], count)
    await warmUp(pace, once)
    for (let round = 0; round < rounds; round++) rates.push((count * 1_000) / (await once(round)))
    return { perSecond: rates }
  },

  /** A run of one step, from its start to its result. */
  async W4({ open, watch, job }) {
    const engine = await open()
    return latencyOf(job, job.pace.starts, watch, async (id) => {
      const from = performance.now()
      const result = await engine.start('sequence', id, 1)
      check('the result', await result(), 0)
      return from
    })
  },

  /** From a signal to the result of the run that waited for it. */
  async W5({ open, watch, job }) {
    const engine = await open()
    return latencyOf(job, job.pace.signals, watch, async (id, i) => {
      const result = await engine.start('sequence', id, 0, true)
      const token = await untilWaiting(engine, watch, id)
      await sleep(job.pace.restMs)
      const from = performance.now()
      await engine.signal(id, i, token)
      check('the result', await result(), i)
      return from
    })
  },

  /** W6 until its SIGKILL: a long run that waits. */
  async 'W6 leave'({ open, watch, maxSteps = 2_000, job, tell }) {
    const engine = await open()
    const steps = Math.min(maxSteps, 2_000)
    await engine.start('sequence', job.id, steps, true)
    const token = await untilWaiting(engine, watch, job.id)
    check('steps done', watch.executed, steps)
    // That it waits is to be recorded, too.
    await sleep(1_000)
    tell({ left: { steps, token } })
    await sleep(60_000)
  },

  /** W6 after it, in a new process. */
  async 'W6 take up'({ open, watch, job }) {
    const from = performance.now()
    const engine = await open()
    const ready = performance.now()
    await engine.signal(job.id, 1, job.token)
    const { at, sum } = await watch.end(job.id)
    check('the sum', sum, sumOf(job.steps) + 1)
    check('steps done again', watch.executed, 0)
    return { doneMs: [at - from], readyMs: [ready - from] }
  },

  /** Resident memory added by 1,000 waiting runs. */
  async W7({ open, watch, job }) {
    const engine = await open()
    const start = async (id) => ({ id, result: await engine.start('sequence', id, 0, true) })
    const end = async ({ id, result }, value) => {
      await engine.signal(id, value, await watch.wait(id))
      check('the result', await result(), value)
    }
    const first = await start('first')
    await untilWaiting(engine, watch, 'first')
    await sleep(200)
    await end(first, 1)

    const before = residentMb(job.address)
    const ids = Array.from({ length: 1_000 }, (_, i) => `w7:${i}`)
    const runs = await Promise.all(ids.map(start))
    for (const id of ids) await untilWaiting(engine, watch, id)
    await sleep(1_000)
    const after = residentMb(job.address)
    await Promise.all(runs.map(end))
    return {
      addedMb: [after.process - before.process],
      ...(before.server === undefined ? {} : { serverMb: [after.server - before.server] }),
    }
  },

  /** Kills itself, and its server, when the results of 100 steps have been reported to the run. */
  async kill({ open, watch, job }) {
    watch.stepMs = job.stepMs ?? 0
    watch.beginStep = (i) => {
      if (i < killAt) return
      if (job.address.serverPid !== undefined) process.kill(job.address.serverPid, 'SIGKILL')
      process.kill(process.pid, 'SIGKILL')
    }
    const engine = await open()
    const result = await engine.start('sequence', 'killed', killedSteps)
    await result()
  },

  /** Sees what of them was kept, and that the run comes to its end. */
  async 'kill go on'({ open, watch }) {
    const from = performance.now()
    const first = new Promise((resolve) => {
      watch.beginStep = (i) => resolve({ step: i, at: performance.now() })
    })
    const engine = await open()
    // It has to wait for nothing else: what it throws is why the run does not go on.
    const refused = engine.resume === undefined ? new Promise(() => {}) : engine.resume('killed', killedSteps)
    const { step, at } = await Promise.race([first, refused.then(() => first)])
    const { sum } = await watch.end('killed')
    check('the sum', sum, sumOf(killedSteps))
    return { keptSteps: [Math.min(step, killAt)], goneOnMs: [at - from] }
  },
}

/** Until its body waits, and until the peer has put it aside where that can be told. Returns what a sender has to know. */
async function untilWaiting(engine, watch, id) {
  const token = await watch.wait(id)
  await engine.parkWithError?.(id)
  return token
}

/** Milliseconds until the last body has returned: kind to those that poll for results. */
async function timeBodies(engine, watch, name, ids, steps) {
  const [from, executed] = [performance.now(), watch.executed]
  const results = await Promise.all(ids.map((id) => engine.start(name, id, steps)))
  for (const result of results) check('the sum', await result(), sumOf(steps))
  const ends = await Promise.all(ids.map((id) => watch.end(id)))
  check('steps done', watch.executed - executed, ids.length * steps)
  return Math.max(...ends.map(({ at }) => at)) - from
}

/** Does rounds until it is warm, and at least one: as base/pace.ts does for Pawl. */
async function warmUp({ warmUpMs }, once) {
  const until = performance.now() + warmUpMs
  let round = 0
  do await once(`warm-up ${round++}`)
  while (performance.now() < until)
}

/**
 * Rounds of so many calls, or of as many as ten seconds allow: until the caller has the result, and until the
 * body has returned. A call returns when it began.
 */
async function latencyOf({ rounds, pace }, calls, watch, call) {
  const once = async (round) => {
    const [times, bodies] = [[], []]
    const until = performance.now() + 10_000
    for (let i = 0; i < calls && performance.now() < until; i++) {
      const id = `w:${round}:${i}`
      const from = await call(id, i)
      times.push(performance.now() - from)
      bodies.push((await watch.end(id)).at - from)
    }
    return { times, bodies }
  }
  await warmUp(pace, once)
  const [p50Ms, p90Ms, bodyP50Ms] = [[], [], []]
  for (let round = 0; round < rounds; round++) {
    const { times, bodies } = await once(round)
    p50Ms.push(quantileOf(times, 0.5))
    p90Ms.push(quantileOf(times, 0.9))
    bodyP50Ms.push(quantileOf(bodies, 0.5))
  }
  return { p50Ms, p90Ms, bodyP50Ms }
}

/** In MB, of this process and of the server that belongs to the peer alone. */
function residentMb({ serverPid }) {
  globalThis.gc()
  globalThis.gc()
  const server = serverPid === undefined ? undefined : readFileSync(`/proc/${serverPid}/status`, 'utf8')
  return {
    process: process.memoryUsage.rss() / 2 ** 20,
    server: server && Number(/^VmRSS:\s*(\d+)/m.exec(server)?.[1]) / 2 ** 10,
  }
}
