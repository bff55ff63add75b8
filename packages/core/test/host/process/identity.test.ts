import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { identifyOwnProcess, isProcessGone } from '../../../src/host/process/identity.ts'
import { runProgram } from '../run-program.ts'

// Only Linux reports when a process started; elsewhere no process is known to be gone.
const knows = process.platform === 'linux'

describe('a process', () => {
  it('finds its own process alive', () => {
    const own = identifyOwnProcess()
    expect(own.pid).toBe(process.pid)
    expect(own.startedAt !== null).toBe(knows)
    expect(isProcessGone(own, own)).toBe(false)
  })

  it.runIf(knows)('identifies a process by the instant it started', () => {
    const bootedAt = Number(/^btime (\d+)$/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1]) * 1000
    const startedAt = bootedAt + Number(identifyOwnProcess().startedAt) * 10
    expect(Math.abs(startedAt - (Date.now() - process.uptime() * 1000))).toBeLessThan(5000)
  })

  it.runIf(knows)('detects a process that has ended and is not reaped yet', async () => {
    // The second process never asks what became of the first.
    const parent = spawn('sh', ['-c', 'sleep 0.01 & echo $!; exec sleep 60'])
    onTestFinished(() => void parent.kill('SIGKILL'))
    const [output] = (await once(parent.stdout, 'data')) as [Buffer]
    const stat = () => readFileSync(`/proc/${Number(output)}/stat`, 'utf8').split(' ')
    while (stat()[2] !== 'Z') await new Promise((resolve) => setTimeout(resolve, 2))
    expect(
      isProcessGone(
        { ...identifyOwnProcess(), pid: Number(output), startedAt: stat()[21] ?? '' },
        identifyOwnProcess(),
      ),
    ).toBe(true)
  })

  it('detects a process that has ended', async () => {
    const child = spawn(process.execPath, ['-e', ''])
    await once(child, 'exit')
    expect(isProcessGone({ ...identifyOwnProcess(), pid: child.pid ?? 0 }, identifyOwnProcess())).toBe(knows)
  })

  it('detects a process whose pid was reused', () => {
    const own = identifyOwnProcess()
    expect(isProcessGone({ ...own, startedAt: '1' }, own)).toBe(knows)
  })

  it.runIf(knows)('assumes that a process is alive if /proc cannot be read', async () => {
    const { stdout, stderr } = await runProgram('no-room', [], [], 256)
    expect(stderr).toBe('')
    expect(JSON.parse(stdout)).toMatchObject({
      own: { startedAt: null, machine: null },
      isGone: false,
      isFirstGone: false,
    })
  })

  it.each([
    ['of another machine, or another boot of it', { machine: 'elsewhere' }],
    ['a process of an unknown machine', { machine: null }],
    ['a process with an unknown start time', { startedAt: null }],
  ])('assumes that %s may be alive', (_, other) => {
    const own = identifyOwnProcess()
    expect(isProcessGone({ ...own, pid: 2 ** 22 + 1, ...other }, own)).toBe(false)
  })
})
