import { once } from 'node:events'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  watch,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openBrowser } from '../src/commands/dev/open-browser.ts'
import { createWorkspace, type Dev, startDev } from './support/workspace.ts'

const root = process.cwd()

function start({ origin, headers }: Dev, body: object): Promise<Response> {
  return fetch(`${origin}/v1/runs`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}

/** A run of `add`, started and awaited over HTTP. */
async function add(dev: Dev): Promise<unknown> {
  const { origin, headers } = dev
  const started = await start(dev, { procedure: 'add' })
  const { id } = (await started.json()) as { readonly id: string }
  for (;;) {
    const reply = await fetch(`${origin}/v1/runs/${id}/result?wait=60s`, { headers })
    const body = (await reply.json()) as { readonly output?: unknown }
    if (reply.status === 200) return body.output
  }
}

/** Starts a run of `pick` and waits until its question is open. */
async function pick(dev: Dev, id: string): Promise<void> {
  const { origin, headers } = dev
  await start(dev, { procedure: 'pick', id })
  for (let open = 0; open === 0; ) {
    const reply = await fetch(`${origin}/v1/asks?run=${id}`, { headers })
    open = ((await reply.json()) as { readonly items: readonly unknown[] }).items.length
  }
}

test('dev replaces the worker when the code changes, names the runs that no longer match, and survives a syntax error', async () => {
  using workspace = await createWorkspace({ typescript: true })
  const file = join(workspace.folder, 'procedures.ts')
  const dev = await startDev(workspace)
  try {
    await dev.line(/Working\./)
    expect(await add(dev)).toBe(2)
    expect(existsSync(join(workspace.folder, '.pawl/dev.db'))).toBe(true)
    await pick(dev, 'p:1')
    const before = readFileSync(file, 'utf8')

    const changed = before
      .replace('1 + 1', '20 + 20')
      .replace("ctx.human.select('Where to?', [", "ctx.human.review('Where to?', [")
    expect(changed).toContain('ctx.human.review')
    writeFileSync(file, changed)
    await dev.line(/procedures\.ts changed/)
    await dev.line(/Working\./)
    await dev.line(/1 run no longer matches:/)
    expect(await dev.line(/p:1: /)).toMatch(/hitl_select.* became hitl_review.* \(procedures\.ts:\d+:\d+\)/)
    expect(await add(dev)).toBe(40)

    appendFileSync(file, 'const = ;\n')
    await dev.line(/cannot be loaded/)
    await dev.line(/The worker has ended/)
    const me = await fetch(`${dev.origin}/v1/me`, { headers: dev.headers })
    expect(me.status).toBe(200)

    writeFileSync(file, before)
    await dev.line(/Working\./)
    expect(await add(dev)).toBe(2)
  } finally {
    dev.child.kill('SIGTERM')
  }
  expect(await once(dev.child, 'exit')).toEqual([0, null])
})

test('dev sees every save, also of editors that write another file and rename it, and of new folders', async () => {
  using workspace = await createWorkspace({ typescript: true })
  const file = join(workspace.folder, 'procedures.ts')
  const dev = await startDev(workspace)
  try {
    await dev.line(/Working\./)
    const before = readFileSync(file, 'utf8')
    for (const answer of [10, 20, 30]) {
      writeFileSync(`${file}.tmp`, before.replace('1 + 1', `${answer}`))
      renameSync(`${file}.tmp`, file)
      await dev.line(/procedures\.ts changed/)
      await dev.line(/Working\./)
      expect(await add(dev)).toBe(answer)
    }
    writeFileSync(file, before.replace('1 + 1', '40'))
    await dev.line(/procedures\.ts changed/)
    await dev.line(/Working\./)
    mkdirSync(join(workspace.folder, 'made/later'), { recursive: true })
    writeFileSync(join(workspace.folder, 'made/later/helper.ts'), 'export {}\n')
    await dev.line(/made\/later\/helper\.ts changed/)
  } finally {
    dev.child.kill('SIGTERM')
  }
  expect(await once(dev.child, 'exit')).toEqual([0, null])
})

test('dev --open hands the address of the inbox, with its key, to the command that BROWSER names', async () => {
  using workspace = await createWorkspace()
  const { folder } = workspace
  const browser = join(folder, 'browser')
  const opened = join(folder, 'opened')
  writeFileSync(browser, `#!/bin/sh\nprintf '%s\\n' "$@" > opening && mv opening opened\n`, { mode: 0o755 })
  const watcher = watch(folder)
  const dev = await startDev({ ...workspace, env: { ...workspace.env, BROWSER: browser } }, '--open')
  try {
    while (!existsSync(opened)) await once(watcher, 'change')
    const [address, ...more] = readFileSync(opened, 'utf8').split('\n')
    expect(more).toEqual([''])
    const { origin, hash } = new URL(address as string)
    expect({ origin, authorization: `Bearer ${hash.replace('#key=', '')}` }).toEqual({
      origin: dev.origin,
      ...dev.headers,
    })
  } finally {
    watcher.close()
    dev.child.kill('SIGTERM')
  }
  expect(await once(dev.child, 'exit')).toEqual([0, null])
})

test('dev --open takes BROWSER as a list of commands with arguments, and leaves the address to no shell', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pawl browser-'))
  const browser = join(folder, 'browser')
  writeFileSync(browser, `#!/bin/sh\nprintf '%s\\n' "$@" > opening && mv opening opened\n`, { mode: 0o755 })
  const url = 'http://127.0.0.1:4747/#key=$(touch stolen);`touch stolen`'
  const open = async (names: string): Promise<readonly string[]> => {
    const watcher = watch(folder)
    try {
      process.chdir(folder)
      openBrowser(url, { ...process.env, BROWSER: names }, () => expect.unreachable())
      while (!existsSync(join(folder, 'opened'))) await once(watcher, 'change')
      return readFileSync(join(folder, 'opened'), 'utf8').split('\n').slice(0, -1)
    } finally {
      process.chdir(root)
      watcher.close()
      rmSync(join(folder, 'opened'), { force: true })
    }
  }
  try {
    expect(await open(browser)).toEqual([url])
    expect(await open(`"${browser}" --new-window`)).toEqual(['--new-window', url])
    expect(await open(`'${browser}' --open=%s --zoom 100%% "two words"`)).toEqual([
      ...[`--open=${url}`, '--zoom', '100%', 'two words'],
    ])
    expect(await open(`/none/such --private:/bin/false:${browser}`)).toEqual([url])
    expect(existsSync(join(folder, 'stolen'))).toBe(false)
    const failed = await new Promise((resolve) =>
      openBrowser(url, { BROWSER: '/none/such:/bin/false' }, () => resolve('failed')),
    )
    expect(failed).toBe('failed')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('dev --open serves without a browser, and says so', async () => {
  using workspace = await createWorkspace()
  const env = { ...workspace.env, BROWSER: join(workspace.folder, 'none') }
  const dev = await startDev({ ...workspace, env }, '--open')
  try {
    await dev.line(/browser/)
    expect((await fetch(`${dev.origin}/v1/me`, { headers: dev.headers })).status).toBe(200)
  } finally {
    dev.child.kill('SIGTERM')
  }
  expect(await once(dev.child, 'exit')).toEqual([0, null])
})
