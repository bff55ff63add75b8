import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { readPage } from './support/pages.ts'
import { programsOf, writePrograms } from './support/programs.ts'

const page = readPage('docs/guides/service.md')
const { folder, remove } = writePrograms(programsOf(page))
const started: Started[] = []
afterAll(async () => {
  await Promise.all(started.map((one) => kill(one, 'SIGKILL')))
  remove()
})

test('the commands of the guide to a service give the replies it shows', async () => {
  const killed = start('worker.ts')
  await printed(killed, 'The worker is ready.')
  const server = start('server.ts', { TOKEN: 'secret-of-ana', PORT: '0' })
  const line = await printed(server, 'The server is at')
  const port = new URL(line.slice('The server is at '.length)).port

  const [run, asks, answer, result, ...others] = commandsWithReplies()
  expect(others).toEqual([])
  await reply(run, port)
  await printed(killed, 'checking A-1')
  await expect.poll(() => curl(asks, port)).toMatchObject({ items: [{}] })
  await reply(asks, port)
  await kill(killed, 'SIGKILL')
  await reply(answer, port)
  const worker = start('worker.ts')
  await printed(worker, 'refunding A-1')
  await reply(result, port)
  expect(worker.lines).not.toContain('checking A-1')

  await kill(worker, 'SIGTERM')
  await kill(server, 'SIGTERM')
  expect([worker.child.exitCode, server.child.exitCode]).toEqual([0, 0])
})

interface Exchange {
  readonly command: string
  /** Fields of the reply. */
  readonly shown: object
}

function commandsWithReplies(): readonly Exchange[] {
  return page.blocks.flatMap(({ text }, index) => {
    const shown = page.blocks[index + 1]
    return text.startsWith('curl ') && shown?.language === 'text'
      ? [{ command: text, shown: JSON.parse(shown.text) as object }]
      : []
  })
}

async function reply(exchange: Exchange | undefined, port: string): Promise<void> {
  expect(await curl(exchange, port)).toMatchObject(exchange?.shown ?? {})
}

async function curl(exchange: Exchange | undefined, port: string): Promise<unknown> {
  if (exchange === undefined) throw new Error('A command is missing on the page.')
  const { stdout } = await promisify(execFile)('bash', ['-c', exchange.command.replace('4747', port)])
  return JSON.parse(stdout)
}

interface Started {
  readonly child: ChildProcess
  readonly lines: string[]
}

function start(file: string, env: Readonly<Record<string, string>> = {}): Started {
  const args = ['-C', '@pawl/source', '--import', 'tsx', file]
  const cwd = join(folder, 'docs/guides/service')
  const child = spawn(process.execPath, args, {
    ...{ cwd, env: { ...process.env, ...env } },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const one: Started = { child, lines: [] }
  createInterface({ input: child.stdout }).on('line', (line) => one.lines.push(line))
  started.push(one)
  return one
}

async function printed({ lines }: Started, begin: string): Promise<string> {
  await expect.poll(() => lines).toContainEqual(expect.stringContaining(begin))
  return lines.find((line) => line.startsWith(begin)) ?? ''
}

async function kill({ child }: Started, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill(signal)
  await ended
}
