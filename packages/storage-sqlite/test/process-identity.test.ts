import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { isGone, readOwnIdentity } from '../src/process-identity.ts'
import { startProgram } from './support/programs.ts'
import { openStore, tempFile } from './support/stores.ts'

const anHour = 3_600_000

// Only Linux tells when a process was started; elsewhere a dead worker is found by its lease alone.
const knows = process.platform === 'linux'

describe('a process', () => {
  it('knows itself to be there', () => {
    const own = readOwnIdentity()
    expect(own.pid).toBe(process.pid)
    expect(own.startedAt !== null).toBe(knows)
    expect(isGone(own, own)).toBe(false)
  })

  it.runIf(knows)('is known by the instant it was started', () => {
    const bootedAt = Number(/^btime (\d+)$/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1]) * 1000
    const startedAt = bootedAt + Number(readOwnIdentity().startedAt) * 10
    expect(Math.abs(startedAt - (Date.now() - process.uptime() * 1000))).toBeLessThan(5000)
  })

  it.runIf(knows)('is gone when it has ended and its parent has not looked yet', async () => {
    // The second process never asks what became of the first.
    const parent = spawn('sh', ['-c', 'sleep 0.01 & echo $!; exec sleep 60'])
    onTestFinished(() => void parent.kill('SIGKILL'))
    const [output] = (await once(parent.stdout, 'data')) as [Buffer]
    const stat = () => readFileSync(`/proc/${Number(output)}/stat`, 'utf8').split(' ')
    while (stat()[2] !== 'Z') await new Promise((resolve) => setTimeout(resolve, 2))
    expect(
      isGone({ ...readOwnIdentity(), pid: Number(output), startedAt: stat()[21] ?? '' }, readOwnIdentity()),
    ).toBe(true)
  })

  it('is gone when it has ended', async () => {
    const child = spawn(process.execPath, ['-e', ''])
    await once(child, 'exit')
    expect(isGone({ ...readOwnIdentity(), pid: child.pid ?? 0 }, readOwnIdentity())).toBe(knows)
  })

  it('is gone when its pid was given to another', () => {
    const own = readOwnIdentity()
    expect(isGone({ ...own, startedAt: '1' }, own)).toBe(knows)
  })

  it.each([
    ['of another machine, or another boot of it', { machine: 'elsewhere' }],
    ['of a machine nobody knows', { machine: null }],
    ['of which nobody knows when it was started', { startedAt: null }],
  ])('%s may be there', (_, other) => {
    const own = readOwnIdentity()
    expect(isGone({ ...own, pid: 2 ** 22 + 1, ...other }, own)).toBe(false)
  })
})

describe('a worker whose process', () => {
  it('was killed is dead with the next sweep, however long its lease', async () => {
    const file = tempFile()
    const store = await openStore(file)
    const program = await startProgram('owner', [file, 'a', knows ? anHour : 1])
    await program.line()
    expect(await store.sweep()).toBe(0)
    program.signal('SIGKILL')
    expect(await program.end()).toBe('SIGKILL')
    expect(await store.sweep()).toBe(1)
    expect(await store.find('a')).toMatchObject({ owned: false, wakeAt: expect.any(Number) })
  })

  it('is stopped is alive as long as its lease', async () => {
    const file = tempFile()
    const store = await openStore(file)
    const program = await startProgram('owner', [file, 'a', anHour])
    const worker = Number(await program.line())
    program.signal('SIGSTOP')
    expect(await store.sweep()).toBe(0)
    program.signal('SIGCONT')
    expect(await store.beat(worker)).toBe(true)
  })

  it('runs on is alive, though another of the same process is dead', async () => {
    const store = await openStore(tempFile())
    const [alive, doomed] = [
      await store.register({ name: 'alive', leaseMs: anHour }),
      await store.register({ name: 'doomed', leaseMs: -1000 }),
    ]
    await store.sweep()
    expect([await store.beat(alive), await store.beat(doomed)]).toEqual([true, false])
  })
})

it('a sweep hands back ten thousand runs of a dead worker, in portions', async () => {
  const store = await openStore(tempFile())
  const worker = await store.register({ name: 'w', leaseMs: -1000 })
  const { run } = await import('./support/runs.ts')
  await store.create(Array.from({ length: 10_000 }, (_, index) => run(`run ${index}`, worker)))
  expect(await store.sweep()).toBe(10_000)
  expect(await store.sweep()).toBe(0)
  expect(await store.mailOf(worker)).toEqual([])
})
