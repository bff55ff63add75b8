import { describe, expect, it } from 'vitest'
import { startProgram } from './support/programs.ts'
import { openStore, tempFile } from './support/stores.ts'

const anHour = 3_600_000

// Only Linux tells when a process was started; elsewhere a dead worker is found by its lease alone.
const knows = process.platform === 'linux'

describe('a worker whose process', () => {
  it('a worker whose process was killed is dead at the next sweep, however long its lease', async () => {
    const file = tempFile()
    const store = await openStore(file)
    const program = await startProgram('owner', [file, 'a', knows ? anHour : 1])
    await program.line()
    expect(await store.workers.sweep()).toBe(0)
    program.signal('SIGKILL')
    expect(await program.end()).toBe('SIGKILL')
    expect(await store.workers.sweep()).toBe(1)
    expect(await store.runs.find('a')).toMatchObject({ owned: false, wakeAt: expect.any(Number) })
  })

  it('a worker whose process was killed can execute nothing before it is declared dead', async () => {
    const file = tempFile()
    const store = await openStore(file)
    const program = await startProgram('owner', [file, 'a', knows ? anHour : 1])
    await program.line()
    // It has not said what it can execute.
    if (knows) expect(await store.workers.abilities()).toBe(null)
    program.signal('SIGKILL')
    await program.end()
    expect(await store.workers.abilities()).toEqual([])
  })

  it('a worker whose process is stopped lives until its lease expires', async () => {
    const file = tempFile()
    const store = await openStore(file)
    const program = await startProgram('owner', [file, 'a', anHour])
    const worker = Number(await program.line())
    program.signal('SIGSTOP')
    expect(await store.workers.sweep()).toBe(0)
    program.signal('SIGCONT')
    expect(await store.workers.beat(worker)).toBe(true)
  })

  it('a worker lives although another worker of its process is dead', async () => {
    const store = await openStore(tempFile())
    const [alive, doomed] = [
      await store.workers.register({ name: 'alive', leaseMs: anHour }),
      await store.workers.register({ name: 'doomed', leaseMs: -1000 }),
    ]
    await store.workers.sweep()
    expect([await store.workers.beat(alive), await store.workers.beat(doomed)]).toEqual([true, false])
  })
})

it('a sweep releases ten thousand runs of a dead worker, in portions', async () => {
  const store = await openStore(tempFile())
  const worker = await store.workers.register({ name: 'w', leaseMs: -1000 })
  const { run } = await import('./support/runs.ts')
  await store.runs.create(Array.from({ length: 10_000 }, (_, index) => run(`run ${index}`, worker)))
  expect(await store.workers.sweep()).toBe(10_000)
  expect(await store.workers.sweep()).toBe(0)
  expect(await store.mail.counters(worker)).toEqual([])
})
