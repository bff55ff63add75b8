import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createWorkspace, startDev, type Workspace } from './support/workspace.ts'

const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))

/** Mulberry32: the same seed kills at the same moments. */
function randomOf(state: number): () => number {
  let a = state
  return () => {
    a = (a + 0x6d2b79f5) | 0
    let t = Math.imul(a ^ (a >>> 15), 1 | a)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

const count = 12

/**
 * Each step of `ledger` appends its number to a file before it ends. A step whose worker was killed between the two is done once more;
 * no step may run again after its result was recorded, and none may be left out.
 */
function checkLedger({ folder }: Workspace, kills: number): void {
  const file = join(folder, 'ledger')
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').map(Number) : []
  expect(new Set(lines)).toEqual(new Set(Array.from({ length: count }, (_, index) => index)))
  // In order: once a later step has begun, an earlier one has been recorded.
  expect(lines).toEqual([...lines].sort((one, other) => one - other))
  // At most one step was at work at each kill.
  expect(lines.length).toBeLessThanOrEqual(count + kills)
}

test(`a run survives kills of \`pawl run\` at random moments (SEED=${seed})`, async () => {
  using workspace = await createWorkspace()
  const random = randomOf(seed)
  const kills = 8
  for (let kill = 0; kill < kills; kill++) {
    const child = spawn(process.execPath, [...workspace.program, 'run', 'ledger', '--id', 'l:1'], {
      ...{ cwd: workspace.folder, env: workspace.env, stdio: 'ignore' },
    })
    const ended = once(child, 'exit')
    await Promise.race([wait(300 + random() * 500), ended])
    child.kill('SIGKILL')
    await ended
  }
  const last = await workspace.pawl('run', 'ledger', '--id', 'l:1', '--json')
  expect(last.status, last.stdout + last.stderr).toBe(0)
  expect(JSON.parse(last.stdout).output).toBe(count)
  const { stdout } = await workspace.pawl('log', 'l:1', '--json')
  expect(JSON.parse(stdout).filter(({ type }: { readonly type: string }) => type === 'step')).toHaveLength(
    count,
  )
  checkLedger(workspace, kills)
})

function workersOf(pid: number): readonly number[] {
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' })
  return stdout.split('\n').filter(Boolean).map(Number)
}

function isAlive(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })
  return stdout.trim() !== '' && !stdout.startsWith('Z')
}

test(`a run survives kills of \`pawl dev\` with its worker at random moments (SEED=${seed})`, async () => {
  using workspace = await createWorkspace()
  const random = randomOf(seed + 1)
  const kills = 4
  const store = ['--store', join(workspace.folder, 'pawl.db')]
  await workspace.pawl('run', 'ledger', '--id', 'l:1', '--detach')
  for (let kill = 0; kill < kills; kill++) {
    const dev = await startDev(workspace, ...store)
    await dev.line(/Working\./)
    await wait(random() * 400)
    const ended = once(dev.child, 'exit')
    const worker = workersOf(dev.child.pid as number)
    expect(worker).toHaveLength(1)
    dev.child.kill('SIGKILL')
    await ended
    // The worker is a process of its own. It ends when its parent has gone.
    await expect.poll(() => isAlive(worker[0] as number)).toBe(false)
  }
  const last = await workspace.pawl('run', 'ledger', '--id', 'l:1', '--json')
  expect(last.status, last.stdout + last.stderr).toBe(0)
  checkLedger(workspace, kills)
})
