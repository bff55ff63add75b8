import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { createContext } from '../src/context.ts'
import { EngineLog } from '../src/output/engine-log.ts'
import { createOut } from '../src/output/out.ts'
import { showSuspension } from '../src/output/suspension.ts'
import { runCommand } from '../src/program.ts'
import { createWorkspace } from './support/workspace.ts'

const failure =
  "failed: Step 'fail' failed after 1 attempt: Error: no. The failure is recorded. Catch this error to handle it, or change the `retry` option of the step."

test('a failure is told once, with the place in the code', async () => {
  using workspace = await createWorkspace()
  const text = await workspace.pawl('run', 'fail', '--id', 'f:1')
  expect(text).toMatchObject({ status: 1, stdout: '' })
  expect(text.stderr.split('\n')).toEqual([
    ...['  Loading procedures.js...', '  Running f:1...', `  ${failure}`],
    expect.stringMatching(/^ {2}at .*procedures\.(?:js|ts):\d+:\d+$/),
    '',
  ])
  const json = await workspace.pawl('run', 'fail', '--id', 'f:2', '--json')
  expect(json).toMatchObject({ status: 1, stderr: '' })
  expect(JSON.parse(json.stdout)).toMatchObject({
    run: { status: 'failed', failure: { code: 'step-failed' } },
  })
})

test('a run that gets stuck is told once, also after resume', async () => {
  using workspace = await createWorkspace()
  const asked = await workspace.pawl('run', 'breaks', '--id', 'b:1', '--json')
  const [{ id }] = JSON.parse(asked.stdout).asks as readonly [{ readonly id: string }]
  const resumed = await workspace.pawl('resume', id, '--choice', 'yes')
  expect(resumed).toMatchObject({ status: 6, stdout: '' })
  expect(resumed.stderr.match(/Cannot read properties of undefined/g)).toHaveLength(1)
})

test('a retry of a run that waits is refused, and says that it resumes by itself', async () => {
  using workspace = await createWorkspace()
  await workspace.pawl('run', 'breaks', '--id', 'b:1')
  const refused = await workspace.pawl('retry', 'b:1')
  expect(refused).toMatchObject({ status: 5, stdout: '' })
  expect(refused.stderr).toContain('Run b:1 is waiting: there is nothing to retry, and it resumes by itself.')
})

test('prints messages of the engine about other runs, and those from before the run is known', () => {
  const lines: string[] = []
  const write = (text: string): unknown => lines.push(text.trim())
  const log = new EngineLog(createOut({ stdin: {}, stdout: { write }, stderr: { write } }, false, {}))
  const failed = (run: string, more: object = {}): void =>
    log.error(`${run} failed`, { run, outcome: 'failed', at: `${run}.ts:1:1`, ...more })
  log.hold()
  failed('a')
  failed('b')
  log.warn('a is slow', { run: 'a' })
  expect(lines).toEqual([])
  log.leaveOut('a')
  failed('a', { outcome: 'has an unhandled rejection' })
  failed('a', { count: 3 })
  const said = ['b failed', 'a is slow', 'a failed', 'a failed'].map((line) => `[pawl] ${line}`)
  expect(lines).toEqual(said)
  expect(log.placeOf('a')).toBe('a.ts:1:1')
})

test('an error that no command expects is JSON with --json, and the context is closed', async () => {
  using workspace = await createWorkspace()
  // The engine is made after its lines are held back.
  const config = "export default { engine: { get concurrency() { throw new TypeError('odd') } } }"
  writeFileSync(join(workspace.folder, 'pawl.config.js'), config)
  let stdout = ''
  using release = vi.spyOn(EngineLog.prototype, 'release')
  const ran = runCommand(['run', 'add', '--json'], {
    stdin: {},
    stdout: { write: (text) => (stdout += text) },
    stderr: { write: () => true },
    cwd: workspace.folder,
    env: workspace.env,
    signal: new AbortController().signal,
  })
  await expect(ran).rejects.toThrow('odd')
  expect(JSON.parse(stdout)).toMatchObject({ code: 'internal', detail: 'The command failed: TypeError: odd' })
  expect(release).toHaveBeenCalledOnce()
})

test('lines of the engine are printed although a door cannot be closed', async () => {
  const lines: string[] = []
  const write = (text: string): unknown => lines.push(text.trim())
  const { signal } = new AbortController()
  const context = createContext(
    { server: 'http://127.0.0.1:9' },
    { stdin: {}, stdout: { write }, stderr: { write }, cwd: tmpdir(), env: {}, signal },
  )
  vi.spyOn(await context.door(), 'close').mockRejectedValue(new Error('odd'))
  context.engineLog.hold()
  context.engineLog.warn('a is slow')
  await expect(context.close()).rejects.toThrow('odd')
  expect(lines).toEqual(['[pawl] a is slow'])
})

test('control characters of an engine log and of a suggested command are printed as codes', () => {
  const lines: string[] = []
  const write = (text: string): unknown => lines.push(text.trimEnd())
  const out = createOut({ stdin: {}, stdout: { write }, stderr: { write } }, false, {})
  new EngineLog(out).error('failed: \x1b]0;title\x07\x1b[2J\u202e')
  expect(lines.splice(0)).toEqual(['[pawl] failed: \\u001b]0;title\\u0007\\u001b[2J\\u202e'])
  const value = '\x1b[2J\x9b2J\u202e\u{e0001}'
  showSuspension(out, [
    {
      ...{
        id: 'ask\x9b',
        digest: '',
        run: 'r:1',
        procedure: 'pick',
        position: 0,
        kind: 'select',
        status: 'open',
      },
      ...{
        message: 'Where to?',
        choices: [{ value, label: 'there' }],
        decisions: [],
        to: [],
        editable: [],
        overdue: false,
      },
      ...{ askedAt: '2026-01-01T00:00:00.000Z', alternatives: [], details: [], links: [], history: [] },
    },
  ])
  const resolution = `{"decision":"\\u001b[2J\\u009b2J\\u202e\\udb40\\udc01"}`
  expect(JSON.parse(resolution)).toEqual({ decision: value })
  expect(lines.at(-1)).toBe(`  pawl resume 'ask\\u009b' --resolution '${resolution}'`)
})
