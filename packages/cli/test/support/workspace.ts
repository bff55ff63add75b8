import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { bundle } from '../../../../test/support/bundle.ts'
import { runCommand } from '../../src/program.ts'

/** A folder with a module of procedures, in which commands are run. */
export interface Workspace extends Disposable {
  readonly folder: string
  /** What Node is called with, before the arguments of a command. */
  readonly program: readonly string[]
  readonly env: Readonly<Record<string, string>>
  pawl(...args: readonly string[]): Promise<Ran>
  /** Runs a command with another environment, in this process. */
  in(env: Workspace['env'], ...args: readonly string[]): Promise<Ran>
}

interface WorkspaceOptions {
  /** The programs are sources that tsx loads, as in a user's project, or that Node loads by itself. Default: they are bundled. */
  readonly typescript?: boolean | 'by-node'
  /**
   * Each command is a process of its own, as its users run it. Default: `true` with `typescript`, else `false`: a test of what a command
   * says would spend its time on starting Node.
   */
  readonly processes?: boolean
}

export interface Ran {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

export const root = fileURLToPath(new URL('../../../../', import.meta.url))
const sources = {
  bin: join(root, 'packages/cli/src/bin.ts'),
  procedures: join(root, 'packages/cli/test/programs/procedures.ts'),
}

/** One file each, made once: starting it takes a fraction of loading the sources through tsx. */
let bundled: Promise<{ readonly bin: string; readonly procedures: string }> | undefined
async function bundleOnce(): Promise<{ readonly bin: string; readonly procedures: string }> {
  const [bin, procedures] = await Promise.all([bundle(sources.bin), bundle(sources.procedures)])
  process.once('exit', () => {
    for (const file of [bin, procedures]) rmSync(dirname(file), { recursive: true, force: true })
  })
  return { bin, procedures }
}

/** Makes an empty workspace. */
export async function createWorkspace(options: WorkspaceOptions = {}): Promise<Workspace> {
  // Inside the project, so that modules find the packages by name; of what is in node_modules, Node loads no TypeScript, and vitest
  // transforms no JavaScript.
  const cache = join(root, options.typescript ? '.cache' : 'node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, 'cli-'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  // Ends the search for a config.
  mkdirSync(join(folder, '.git'))
  const loader = options.typescript === 'by-node' ? [] : ['--import', 'tsx']
  let program: readonly string[] = ['--conditions=@pawl/source', ...loader, sources.bin]
  if (options.typescript) copyFileSync(sources.procedures, join(folder, 'procedures.ts'))
  else {
    bundled ??= bundleOnce()
    const { bin, procedures } = await bundled
    copyFileSync(procedures, join(folder, 'procedures.js'))
    program = [bin]
  }
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder }
  return {
    folder,
    program,
    env,
    pawl: commands(folder, program, env, options.processes ?? options.typescript !== undefined),
    in: (other, ...args) => here(folder, other, args),
    [Symbol.dispose]() {
      process.chdir(root)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function commands(
  folder: string,
  program: readonly string[],
  env: Workspace['env'],
  processes: boolean,
): Workspace['pawl'] {
  return (...args) => (processes ? asProcess(folder, env, [...program, ...args]) : here(folder, env, args))
}

/** Runs a command in this process: all that `bin.ts` adds are the streams and the signals of a process. */
async function here(cwd: string, env: Workspace['env'], args: readonly string[]): Promise<Ran> {
  const ran = { stdout: '', stderr: '' }
  // Procedures may look for files.
  process.chdir(cwd)
  const status = await runCommand(args, {
    stdin: {},
    stdout: { write: (text) => (ran.stdout += text) },
    stderr: { write: (text) => (ran.stderr += text) },
    cwd,
    env,
    signal: new AbortController().signal,
  })
  return { status, ...ran }
}

/** Runs the command line as its users do: a process of its own, here with pipes in place of a terminal. */
function asProcess(cwd: string, env: Workspace['env'], args: readonly string[]): Promise<Ran> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, args, { cwd, env }, (error, stdout, stderr) =>
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
  /** Waits for the next line of stderr that matches, after the lines that were waited for before. */
  line(pattern: RegExp): Promise<string>
}

export function startDev(workspace: Workspace, ...args: readonly string[]): Promise<Dev> {
  return startServing('dev', workspace, ...args)
}

/** Starts `pawl dev` or `pawl server`. */
export async function startServing(
  command: 'dev' | 'server',
  { folder, program, env }: Workspace,
  ...args: readonly string[]
): Promise<Dev> {
  const child = spawn(process.execPath, [...program, command, '--port', '0', ...args], {
    cwd: folder,
    env,
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

/** Stops a process cleanly, so that it no longer uses its folder. */
export async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}

/** A workspace whose commands go to a server, with a worker beside it. */
export interface Served extends Workspace, AsyncDisposable {
  readonly dev: Dev
}

/**
 * Starts `pawl dev` on the store of a workspace, and returns a workspace whose commands know it by their environment. Their token may
 * name another person, as a command on the store may.
 */
export async function serve(workspace: Workspace): Promise<Served> {
  const { folder, program } = workspace
  const made = await workspace.pawl('token', 'make', 'user:me', '--role', 'admin', '--act-as')
  const dev = await startDev(workspace, '--store', join(folder, 'pawl.db'), '--tokens', 'tokens.json')
  await dev.line(/Working\./)
  const env = { ...workspace.env, PAWL_SERVER: dev.origin, PAWL_TOKEN: made.stdout.trim() }
  return {
    ...{ folder, program, env, dev },
    pawl: (...args) => here(folder, env, args),
    in: (other, ...args) => here(folder, other, args),
    [Symbol.dispose]() {},
    async [Symbol.asyncDispose]() {
      await stop(dev.child)
    },
  }
}
