import { expect, it } from 'vitest'
import { connect, transact } from '../../../test/support/sqlite.ts'
import type { Database } from '../src/connection/database.ts'
import { event, refund, run, type Standing, step } from './support/runs.ts'
import { openStore, tempFile } from './support/stores.ts'

it('a recorded step takes at most 100 bytes of the file, its index included', async () => {
  const file = tempFile()
  const store = await openStore(file)
  const worker = await store.workers.register({ name: 'w', leaseMs: 60_000 })
  await store.runs.create(Array.from({ length: 200 }, (_, index) => run(`refund:A-${index}`, worker)))
  const database = connect(file)
  const before = readBytes(database)
  const steps = 100
  const runs = database.prepare<[], number>('select run from runs').pluck().all()
  let standings: Standing[] = runs.map((key) => ({ run: key, worker, epoch: 1, head: 1 }))
  for (let round = 0; round < steps; round++) {
    // A result of 30 bytes, and a seal with every 64th event.
    const seals = [standings[0]?.head === 63 ? new Uint8Array(32) : null]
    const units = standings.map((standing) => ({ ...step(standing), events: [event(round)], seals }))
    await store.log.commit(worker, units)
    standings = standings.map((standing) => ({ ...standing, head: standing.head + 1 }))
  }
  const perStep = (readBytes(database) - before) / (runs.length * steps)
  database.close()
  console.log(`${perStep.toFixed(1)} bytes per recorded step`)
  expect(perStep).toBeLessThan(100)
})

it('a file shrinks when most of its runs are deleted', async () => {
  const file = tempFile()
  const store = await openStore(file)
  const worker = await store.workers.register({ name: 'w', leaseMs: 60_000 })
  const created = await store.runs.create(
    Array.from({ length: 400 }, (_, index) => run(`refund:A-${index}`, worker)),
  )
  const events = Array.from({ length: 50 }, (_, index) => event(index))
  const units = created.map((one) => ({
    ...{ ...step({ run: one.run, worker, epoch: 1, head: 1 }), events, seals: events.map(() => null) },
    next: { do: 'end', state: 'completed' } as const,
  }))
  await store.log.commit(worker, units)
  const database = connect(file)
  const before = readBytes(database)
  const startedAt = performance.now()
  const keys = created.slice(0, 380).map((one) => one.run)
  for (let first = 0; first < keys.length; first += 100)
    await store.removals.remove(keys.slice(first, first + 100))
  while (await store.removals.clear(2_000));
  // What is free by then is given back by the next parts.
  for (let part = 0; part < 10; part++) await store.removals.clear(2_000)
  const tookMs = performance.now() - startedAt
  const after = readBytes(database)
  database.close()
  console.log(`${before} bytes, ${after} after deleting 95 % in ${tookMs.toFixed(0)} ms`)
  expect(after).toBeLessThan(0.15 * before)
})

it('a store with a hundred thousand waiting runs opens, and finds the due one, at once', async () => {
  const file = tempFile()
  const store = await openStore(file)
  await store.close()
  fill(file, 100_000)
  const before = process.cpuUsage()
  const again = await openStore(file)
  const worker = await again.workers.register({ name: 'w', leaseMs: 60_000 })
  await again.workers.sweep()
  const claimant = { worker, procedures: refund }
  expect(await again.claims.retryStuck(claimant)).toBe(0)
  expect((await again.claims.claim(claimant, 10)).runs).toEqual([])
  await again.mail.send(
    [{ run: 'run 77777', kind: 'signal', name: 'x', key: null, by: null, payload: null }],
    null,
  )
  expect((await again.claims.claim(claimant, 10)).runs).toMatchObject([{ id: 'run 77777' }])
  const { user, system } = process.cpuUsage(before)
  const tookMs = (user + system) / 1_000
  console.log(`opened, swept, sent and claimed among 100,000 waiting runs in ${tookMs.toFixed(0)} ms`)
  expect(tookMs).toBeLessThan(1_000)
})

function readBytes(database: Database): number {
  database.pragma('wal_checkpoint(truncate)')
  const size = "select sum(pgsize) from dbstat where name in ('events', 'events_key')"
  return database.prepare<[], number>(size).pluck().get() ?? 0
}

/** Runs that wait, half of them with a deadline that is far away. */
function fill(file: string, count: number): void {
  const database = connect(file)
  const insert = database.prepare(
    `insert into runs (wake_at, worker, epoch, head, mail, state, mark, tries, created_at, version, procedure, id, link)
     values (?, null, 1, 1, 0, 0, 0, 0, 0, 1, 'refund', ?, x'00')`,
  )
  transact(database, () => {
    for (let index = 0; index < count; index++)
      insert.run(index % 2 === 0 ? 9e12 + index : null, `run ${index}`)
  })
  database.close()
}
