// Commits under a VFS that writes everything down, then goes without closing: `powered <file> <vfs> <journal> <commits>
// <synchronous>`. What was acknowledged is written down in the same journal, in its place among the writes.
import { openSync, writeSync } from 'node:fs'
import type { Unit } from '@pawl/core/storage'
import { driver, loadExtension } from '../../../../test/support/sqlite.ts'
import { realEnvironment } from '../../src/connection/connection.ts'
import { createStore } from '../../src/store.ts'
import { changedConnections } from '../support/environments.ts'
import { event, run, type Standing, step } from '../support/runs.ts'

const [, , file = '', vfs = '', journal = '', commits = '', synchronous = 'full'] = process.argv
loadExtension(vfs)
const output = openSync(journal, 'a')
const environment = changedConnections((database) => {
  // Many small checkpoints, so that there is much to be lost in.
  database.pragma('wal_autocheckpoint = 20')
  database.pragma(`synchronous = ${synchronous}`)
})
const store = createStore(file, { ...realEnvironment(driver), ...environment })
await store.open()
const worker = await store.workers.register({ name: 'powered', leaseMs: 3_600_000 })
const created = await store.runs.create(['a', 'b', 'c', 'd'].map((id) => run(id, worker)))
let standings: Standing[] = created.map((one) => ({ run: one.run, worker, epoch: 1, head: 1 }))
for (const { run } of standings) acknowledge(`${run} 0 1`)

for (let commit = 0; commit < Number(commits); commit++) {
  const count = 1 + (commit % 4)
  const units = standings.slice(0, count).map((standing) => plan(standing, 1 + (commit % 3), commit))
  const outcomes = await store.log.commit(worker, units)
  if (outcomes.some(({ outcome }) => outcome !== 'ok')) throw new Error(JSON.stringify(outcomes))
  for (const { run, head, events } of units) acknowledge(`${run} ${head} ${events.length}`)
  standings = standings.map((standing, index) => ({
    ...standing,
    head: standing.head + (units[index]?.events.length ?? 0),
  }))
}
process.kill(process.pid, 'SIGKILL')

function plan(standing: Standing, count: number, commit: number): Unit {
  const payload = new Uint8Array(commit % 10 === 0 ? 6000 : 60).fill(commit % 256)
  const events = Array.from({ length: count }, (_, index) => event(standing.head + index, payload))
  return { ...step(standing), events, seals: events.map(() => null) }
}

/** `run head count`: these events are promised from here on. */
function acknowledge(text: string): void {
  const data = Buffer.from(text)
  const head = Buffer.alloc(16)
  head.writeUInt8(5, 0)
  head.writeUInt32LE(data.length, 4)
  writeSync(output, Buffer.concat([head, data]))
}
