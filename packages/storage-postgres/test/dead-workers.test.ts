import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { StorePort } from '@pawl/core/storage'
import { postgres } from '@pawl/storage-postgres'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { bundle } from '../../../test/support/bundle.ts'
import { empty, makeDatabase, type TestDatabase } from '../../../test/support/postgres-database.ts'
import { createOwned, open } from './support/units.ts'

const anHour = 3_600_000

// Only Linux tells when a process was started; elsewhere a dead worker is found by its lease alone.
const knows = process.platform === 'linux'

let database: TestDatabase
let store: StorePort
let program: string
beforeAll(async () => {
  database = await makeDatabase()
  // Whom the workers below do not share a role with.
  store = await open(postgres(database.url))
  program = await bundle(new URL('programs/owner.ts', import.meta.url).pathname)
})
afterAll(async () => {
  await store.close()
  await database.remove()
  await rm(dirname(program), { recursive: true })
})
afterEach(() => empty(database.owner, 'pawl'))

/** A worker in a process of its own, which owns the run. */
async function startOwner(id: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [program, database.ownerUrl, id, String(anHour)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  return child
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL')
  await once(child, 'exit')
}

const query = (text: string) => database.owner.query(text)

/** Until the server has noticed that the worker behind the last heartbeat is gone. */
async function untilSessionEnds(): Promise<void> {
  const isThere =
    'select from pawl.workers join pg_stat_activity a on a.pid = session where process_started is not null'
  await expect.poll(async () => (await query(isThere)).rowCount, { interval: 5 }).toBe(0)
}

const pretendGone = () => query(`update pawl.workers set process_started = '1'`)

describe.runIf(knows)('a worker of this machine', () => {
  test('a worker of this machine whose process was killed is dead at the next sweep, however long its lease', async () => {
    const child = await startOwner('a')
    expect(await store.workers.sweep()).toBe(0)
    await kill(child)
    await untilSessionEnds()
    expect(await store.workers.sweep()).toBe(1)
    expect(await store.runs.find('a')).toMatchObject({ owned: false, wakeAt: expect.any(Number) })
  })

  test('a worker of this machine whose process is stopped lives until its lease expires, even without its connection', async () => {
    const child = await startOwner('a')
    child.kill('SIGSTOP')
    await query('select pg_terminate_backend(session, 5000) from pawl.workers')
    expect(await store.workers.sweep()).toBe(0)
    expect(await store.runs.find('a')).toMatchObject({ owned: true })
  })

  test('a worker of this machine whose process was killed keeps its lease while a process holds its connection', async () => {
    // As PgBouncer does.
    const holder = await database.owner.connect()
    onTestFinished(() => holder.release())
    const child = await startOwner('a')
    await holder.query('update pawl.workers set session = pg_backend_pid()')
    await kill(child)
    expect(await store.workers.sweep()).toBe(0)
  })
})

describe.runIf(knows)('a worker that a copy of its machine takes for a dead one of its own', () => {
  test('a worker that a copy of its machine takes for dead is alive while it has its connection', async () => {
    const worker = await store.workers.register({ name: 'w', leaseMs: anHour })
    await createOwned(store, worker, ['a'])
    await pretendGone()
    expect(await store.workers.sweep()).toBe(0)
    expect(await store.workers.beat(worker)).toBe(true)
  })

  test('a worker that a copy of its machine takes for dead is alive again with a heartbeat on its next connection', async () => {
    const worker = await store.workers.register({ name: 'w', leaseMs: anHour })
    await createOwned(store, worker, ['a'])
    await query('select pg_terminate_backend(session, 5000) from pawl.workers')
    await expect.poll(() => store.workers.beat(worker).catch(() => false)).toBe(true)
    await pretendGone()
    expect(await store.workers.sweep()).toBe(0)
    await query('select pg_terminate_backend(session, 5000) from pawl.workers')
    expect(await store.workers.sweep()).toBe(1)
  })
})

describe('only its lease says that a worker is dead', () => {
  const cases = [
    ['that runs on another machine', `machine = 'elsewhere'`],
    ['of whose process nothing is known', 'machine = null, process_started = null, pid = null'],
    ['that an older version of this package registered', 'machine = null, session = null'],
  ] as const
  test.for(cases)('only the lease shows that a worker is dead: %s', async ([, what]) => {
    const child = await startOwner('a')
    await query(`update pawl.workers set ${what}`)
    await kill(child)
    await untilSessionEnds()
    expect(await store.workers.sweep()).toBe(0)
    await query('update pawl.workers set beat_at = 0')
    expect(await store.workers.sweep()).toBe(1)
  })

  test('only the lease shows that a worker is dead to a role that cannot see the sessions of the server', async () => {
    const look = 'execute on function pg_catalog.pg_stat_get_activity(int)'
    await query(`revoke ${look} from public`)
    onTestFinished(async () => void (await query(`grant ${look} to public`)))
    const child = await startOwner('a')
    await kill(child)
    await untilSessionEnds()
    expect(await store.workers.sweep()).toBe(0)
    await query('update pawl.workers set beat_at = 0')
    expect(await store.workers.sweep()).toBe(1)
  })
})
