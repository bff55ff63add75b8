import { openSync, writeSync } from 'node:fs'
import { connectTo, type Unit } from '@pawl/core/storage'
import { postgres } from '@pawl/storage-postgres'
import { MutantPool, withoutFence } from '../../../../test/support/mutant-pool.ts'
import { newEvent, newUnit, order, type Standing } from '../support/units.ts'

// A worker with a short lease, to be stopped past it: claims, commits and parks as fast as it can, with a slow
// step now and then during which its heartbeat continues. Writes down what was acknowledged.
const [url = '', acknowledgements = '', guard = ''] = process.argv.slice(2)
const leaseMs = 250

const pool = guard === 'unguarded' ? new MutantPool(url, withoutFence) : undefined
const found = connectTo(pool === undefined ? postgres(url) : postgres({ pool }))
if (!found) throw new Error('The store was not made by defineStore.')
const port = found
const file = openSync(acknowledgements, 'a')
const owned = new Map<number, Standing>()
/** Units that were refused or released: sent again now and then, as a confused worker would. */
let graveyard: Unit[] = []
let isStopping = false
let serial = 0
let worker = 0
process.on('message', () => {
  isStopping = true
})

await port.open()
worker = await register()
process.send?.('ready')
await Promise.all([beat(), work()])
await port.workers.release(worker)
await port.close()
// A worker that never owned a run has committed nothing that could have been rewritten.
if (serial > 0) await pool?.end()
process.exit()

function register(): Promise<number> {
  return port.workers.register({ name: `zombie ${process.pid}`, leaseMs })
}

async function beat(): Promise<void> {
  while (!isStopping) {
    // After a stop the reply may be taken for late. The next beat tells.
    if ((await port.workers.beat(worker).catch(() => null)) === false) {
      owned.clear()
      worker = await register()
    }
    await port.workers.sweep()
    await pause(60)
  }
}

async function work(): Promise<void> {
  while (!isStopping) {
    const me = worker
    const { runs } = await port.claims.claim({ worker: me, procedures: [order] }, 20)
    for (const { run, epoch, head, mail } of runs) owned.set(run, { run, epoch, head, mail })
    const units = [...owned.values()].map(makeUnit)
    if (units.length === 0) {
      await pause(5)
      continue
    }
    const dead = graveyard.filter(({ run }) => !owned.has(run)).slice(-3)
    const stale = [...new Map(dead.map((unit) => [unit.run, unit])).values()]
    if (chance(0.15)) await pause(300)
    dropRefused(await port.log.commit(me, [...units, ...stale]), units)
  }
}

function dropRefused(outcomes: Awaited<ReturnType<typeof port.log.commit>>, units: readonly Unit[]): void {
  let lines = ''
  for (const [index, unit] of units.entries()) {
    const outcome = outcomes[index]
    const standing = owned.get(unit.run)
    if (outcome?.outcome === 'ok') {
      lines += `${unit.run} ${unit.head} ${unit.epoch} ${unit.events.length} ${unit.events[0]?.name}\n`
      if (standing)
        Object.assign(standing, {
          head: unit.head + unit.events.length,
          epoch: outcome.epoch,
          mail: outcome.mail,
        })
    }
    if (outcome?.outcome === 'lost' && standing) standing.epoch = outcome.epoch
    else if (outcome?.outcome !== 'ok' || outcome.parked) {
      owned.delete(unit.run)
      graveyard.push({ ...unit, events: unit.events.map((event) => ({ ...event, name: 'STALE' })) })
    }
  }
  graveyard = graveyard.slice(-200)
  if (lines !== '') writeSync(file, lines)
}

function makeUnit(standing: Standing): Unit {
  const name = `${process.pid}:${serial++}`
  const events = Array.from({ length: 1 + Math.floor(Math.random() * 3) }, () => newEvent(name))
  return newUnit(standing, { events, next: chance(0.12) ? { do: 'park', wakeAt: 1 } : { do: 'keep' } })
}

function chance(probability: number): boolean {
  return Math.random() < probability
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
