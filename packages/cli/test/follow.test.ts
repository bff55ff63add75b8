import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { createWorkspace, serve, type Workspace } from './support/workspace.ts'

/** A command that follows, read line by line. */
function follow({ folder, program, env }: Workspace, ...args: readonly string[]) {
  const child = spawn(process.execPath, [...program, ...args], {
    ...{ cwd: folder, env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  return {
    /** The next line that matches. */
    async line(pattern: RegExp): Promise<string> {
      for (;;) {
        const { value, done } = await lines.next()
        if (done) throw new Error(`The command ended without a line like ${pattern}.`)
        if (pattern.test(value as string)) return value as string
      }
    },
    interrupt: () => child.kill('SIGINT'),
    end: async (): Promise<number | null> => (await ended)[0],
  }
}

test.each(['store', 'server'])('follows the log of a run to its end, on a %s', async (where) => {
  using workspace = await createWorkspace()
  await using served = where === 'server' ? await serve(workspace) : undefined
  const here = served ?? workspace
  await here.pawl('run', 'changing', '--id', 'c:1')
  const log = follow(here, 'log', 'c:1', '--follow', '--json')
  expect(JSON.parse(await log.line(/"done"/))).toMatchObject({ position: 0, name: 'old' })
  expect(JSON.parse(await log.line(/"open"/))).toMatchObject({ position: 1, name: 'select' })
  await here.pawl('resume', 'c:1/1', '--choice', 'yes')
  expect(JSON.parse(await log.line(/"done"/))).toMatchObject({ position: 1 })
  expect(await log.end()).toBe(0)
})

test('follows a run from waiting to its end', async () => {
  using workspace = await createWorkspace()
  await using served = await serve(workspace)
  await served.pawl('run', 'pick', '--id', 'p:1')
  const show = follow(served, 'show', 'p:1', '--follow')
  await show.line(/^status\twaiting/)
  await served.pawl('answer', 'p:1/0', '--choice', 'north')
  await show.line(/^status\tcompleted/)
  expect(await show.end()).toBe(0)
})

test('follows the inbox until it is interrupted', async () => {
  using workspace = await createWorkspace()
  await using served = await serve(workspace)
  await served.pawl('run', 'pick', '--id', 'p:1')
  const inbox = follow(served, 'inbox', '--follow')
  await inbox.line(/^ask\.opened\t.*Where to\?/)
  await served.pawl('run', 'enter', '--id', 'e:1')
  await inbox.line(/^ask\.opened\t.*Your name\?/)
  await served.pawl('answer', 'p:1/0', '--choice', 'north')
  await inbox.line(/^ask\.closed\t.*Where to\?/)
  inbox.interrupt()
  expect(await inbox.end()).toBe(130)
})

test('continues where it was after the server was restarted', async () => {
  using workspace = await createWorkspace()
  const [first, port] = await serveOn(workspace, '0')
  const log = follow({ ...workspace, env: first.env }, 'log', 'c:1', '--follow')
  await log.line(/^1\task\topen|^1\t/)
  await first.stop()
  const [second] = await serveOn(workspace, port)
  await workspace.pawl('resume', 'c:1/1', '--choice', 'yes')
  // Position 0 would come first if the stream began anew.
  expect(await log.line(/./)).toMatch(/^1\t.*done/)
  expect(await log.end()).toBe(0)
  await second.stop()
})

/** Starts `pawl server` with a token that stays the same. */
async function serveOn(workspace: Workspace, port: string) {
  let token = ''
  const { folder, program } = workspace
  if (port === '0') {
    await workspace.pawl('run', 'changing', '--id', 'c:1')
    token = (await workspace.pawl('token', 'make', 'user:ana', '--role', 'admin')).stdout.trim()
  }
  const args = [...program, 'server', '--port', port, '--tokens', 'tokens.json']
  const child = spawn(process.execPath, args, {
    ...{ cwd: folder, env: workspace.env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [url] = (await once(createInterface(child.stdout), 'line')) as [string]
  const { origin, port: bound } = new URL(url)
  const stop = async (): Promise<void> => {
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
  return [{ env: { ...workspace.env, PAWL_SERVER: origin, PAWL_TOKEN: token }, stop }, bound] as const
}
