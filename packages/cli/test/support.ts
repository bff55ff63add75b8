import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** A folder with a module of procedures, in which commands are run. */
export interface Workspace extends Disposable {
  readonly folder: string
  pawl(...args: readonly string[]): Promise<Ran>
}

export interface Ran {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

const procedures = `
import { procedure } from '@pawl/core'
import { z } from 'zod'

export const greet = procedure({ name: 'greet', input: z.object({ name: z.string() }) }, async (ctx, { name }) => {
  const answer = await ctx.human.approve('Greet {name}?', { params: { name }, editable: ['name'], key: 'greet' })
  return answer.approved ? 'Hello, ' + answer.params.name : 'silence'
})
export const add = procedure({ name: 'add' }, (ctx) => ctx.step('add', () => 1 + 1))
export const fail = procedure({ name: 'fail' }, (ctx) =>
  ctx.step('fail', () => { throw new Error('no') }, { retry: false }))
export const enter = procedure({ name: 'enter' }, (ctx) => ctx.human.input('Your name?', z.string()))
export const pick = procedure({ name: 'pick' }, (ctx) => ctx.human.select('Where to?', ['north', 'south']))
export const review = procedure({ name: 'review' }, (ctx) => ctx.human.review('Publish?', 'old', { editable: true }))
export const escalate = procedure({ name: 'escalate' }, (ctx) => ctx.human.escalate('It is broken'))
export const wait = procedure({ name: 'wait', signals: { go: z.number() } }, (ctx) => ctx.receive('go'))
`

export function createWorkspace(): Workspace {
  // Inside the project, so that the module finds the packages by name.
  const cache = join(root, '.cache')
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, 'cli-'))
  writeFileSync(join(folder, 'procedures.ts'), procedures)
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  // Ends the search for a config.
  mkdirSync(join(folder, '.git'))
  return {
    folder,
    pawl: (...args) => pawl(folder, args),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  }
}

const root = fileURLToPath(new URL('../../../', import.meta.url))
const program: readonly string[] = [
  ...['--conditions=@pawl/source', '--import', 'tsx'],
  join(root, 'packages/cli/src/bin.ts'),
]

/** Runs the command line as its users do: a process of its own, here with pipes in place of a terminal. */
function pawl(cwd: string, args: readonly string[]): Promise<Ran> {
  const env = { PATH: process.env['PATH'] ?? '', HOME: cwd }
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [...program, ...args], { cwd, env }, (error, stdout, stderr) =>
      resolve({
        status: typeof error?.code === 'number' ? error.code : error === null ? 0 : -1,
        stdout,
        stderr,
      }),
    )
    child.stdin?.end()
  })
}

/** A running `pawl dev`. */
export interface Dev {
  readonly child: ChildProcess
  readonly origin: string
  readonly headers: Readonly<Record<string, string>>
  /** Waits for the next line of stderr that matches, after those that were waited for before. */
  line(pattern: RegExp): Promise<string>
}

export async function startDev({ folder }: Workspace): Promise<Dev> {
  const child = spawn(process.execPath, [...program, 'dev', '--port', '0'], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', HOME: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const url = new URL(String(await once(createInterface(child.stdout), 'line').then(([line]) => line)))
  const lines: string[] = []
  let wake = (): void => {}
  createInterface(child.stderr).on('line', (line) => {
    lines.push(line)
    wake()
  })
  return {
    child,
    origin: url.origin,
    headers: { authorization: `Bearer ${url.hash.replace('#key=', '')}` },
    async line(pattern) {
      for (;;) {
        const at = lines.findIndex((line) => pattern.test(line))
        if (at >= 0) return lines.splice(0, at + 1).at(-1) as string
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
  }
}
