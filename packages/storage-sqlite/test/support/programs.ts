import { type ChildProcess, spawn } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, onTestFinished } from 'vitest'
import { bundle } from '../../../../test/support/bundle.ts'

const bundles = new Map<string, Promise<string>>()

afterAll(async () => {
  for (const file of bundles.values()) await rm(dirname(await file), { recursive: true, force: true })
  bundles.clear()
})

/** Starts a program of test/programs in a process of its own, which does not outlive the test. */
export async function startProgram(
  name: string,
  args: readonly unknown[],
  { fileLimitBlocks }: { readonly fileLimitBlocks?: number } = {},
): Promise<Program> {
  let file = bundles.get(name)
  if (!file) {
    file = bundle(fileURLToPath(new URL(`../programs/${name}.ts`, import.meta.url)))
    bundles.set(name, file)
  }
  const command = [process.execPath, await file, ...args.map(String)]
  // Writing beyond the limit fails, in place of the signal that would end the process.
  const limited = ['sh', '-c', `trap '' XFSZ; ulimit -f ${fileLimitBlocks}; exec "$@"`, 'sh', ...command]
  const [executable = '', ...rest] = fileLimitBlocks === undefined ? command : limited
  const child = spawn(executable, rest, { stdio: ['pipe', 'pipe', 'inherit'] })
  const program = new Program(child)
  onTestFinished(() => void child.kill('SIGKILL'))
  return program
}

export class Program {
  readonly #child: ChildProcess
  readonly #lines: AsyncIterator<string>
  readonly #ended: Promise<number | NodeJS.Signals>

  constructor(child: ChildProcess) {
    this.#child = child
    this.#lines = readLines(child)[Symbol.asyncIterator]()
    this.#ended = new Promise((resolve) => {
      child.once('exit', (code, signal) => resolve(signal ?? code ?? 0))
    })
  }

  /** The next line it writes; undefined when it has ended. */
  async line(): Promise<string | undefined> {
    const { value, done } = await this.#lines.next()
    return done ? undefined : value
  }

  /** All lines it writes from now on. */
  async rest(): Promise<string[]> {
    const lines: string[] = []
    for (let line = await this.line(); line !== undefined; line = await this.line()) lines.push(line)
    return lines
  }

  tell(line: string): void {
    this.#child.stdin?.write(`${line}\n`)
  }

  /** Ends its input. */
  finish(): void {
    this.#child.stdin?.end()
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  /** Its exit code, or the signal it died of. */
  end(): Promise<number | NodeJS.Signals> {
    return this.#ended
  }
}

function readLines(child: ChildProcess): Interface {
  if (!child.stdout) throw new Error('a program without output')
  return createInterface(child.stdout)
}
