// Works on whatever it can claim until its input ends: `fenced-worker <file> <journal> <mutation>`.
// Its lease is short, it is stopped and continued from outside, it is slow between claiming and writing, and it
// submits units again that were refused. The journal has a line for each claim and each acknowledged event.
import { openSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Unit, WorkerKey } from '@pawl/core/storage'
import { type Mutation, makeMutant } from '../support/mutants.ts'
import { event, refund, type Standing, step } from '../support/runs.ts'

const [, , file = '', journal = '', mutation = 'nothing'] = process.argv
const store = makeMutant(file, mutation as Mutation)
await store.open()
const output = openSync(journal, 'a')
const mine = new Map<number, Standing & { id: string; mail: number }>()
const stale: Unit[] = []
let isOver = false
process.stdin.resume().on('end', () => (isOver = true))

let worker = await register()
let beatenAt = 0
for (let round = 0; !isOver; round++) {
  if (performance.now() - beatenAt > 50) await beat()
  for (const { run, id, epoch, head, mail } of (await store.claims.claim({ worker, procedures: refund }, 15))
    .runs) {
    write(`claim ${run} ${epoch} ${head}`)
    mine.set(run, { run, id, worker, epoch, head, mail })
  }
  await workOn(round)
}
console.log('over')
await store.close()

async function workOn(round: number): Promise<void> {
  const units = [...mine.values()].map((standing, index) =>
    plan(standing, `${process.pid}:${round}:${index}`),
  )
  // Another worker may take the runs just now.
  await sleep(Math.random() * 4)
  const again = stale.find((unit) => !mine.has(unit.run))
  const given = again ? [...units, again] : units
  if (given.length === 0) return
  const outcomes = await store.log.commit(worker, given)
  let lines = ''
  for (const [index, outcome] of outcomes.entries()) {
    const unit = given[index] as Unit
    if (outcome.outcome === 'ok') {
      lines += `event ${unit.run} ${unit.head} ${unit.events[0]?.name}\n`
      const standing = mine.get(unit.run)
      if (outcome.parked) mine.delete(unit.run)
      else if (standing) mine.set(unit.run, { ...standing, head: unit.head + 1, mail: outcome.mail })
    } else {
      if (unit !== again) lines += `refused ${unit.run}\n`
      mine.delete(unit.run)
      stale.push(unit)
      if (stale.length > 50) stale.shift()
    }
  }
  if (lines !== '') writeSync(output, lines)
  const [first] = units
  if (first && round % 5 === 0) await sendTo(mine.get(first.run)?.id)
}

function plan(standing: Standing & { mail: number }, name: string): Unit {
  const isParked = Math.random() < 0.12
  return {
    ...step(standing),
    events: [event(standing.head, null, name)],
    seen: standing.mail,
    next: isParked ? { do: 'park', wakeAt: 1 } : { do: 'keep' },
  }
}

async function sendTo(id: string | undefined): Promise<void> {
  if (id !== undefined)
    await store.mail.send(
      [{ run: id, kind: 'signal', name: 'hello', key: null, by: null, payload: null }],
      null,
    )
}

async function beat(): Promise<void> {
  beatenAt = performance.now()
  if (!(await store.workers.beat(worker))) {
    worker = await register()
    mine.clear()
  }
  await store.workers.sweep()
}

function register(): Promise<WorkerKey> {
  return store.workers.register({ name: String(process.pid), leaseMs: 250 })
}

function write(line: string): void {
  writeSync(output, `${line}\n`)
}
