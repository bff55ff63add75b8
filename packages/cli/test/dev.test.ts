import { once } from 'node:events'
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createWorkspace, type Dev, startDev } from './support/workspace.ts'

/** A run of `add`, started and awaited over HTTP. */
async function add({ origin, headers }: Dev): Promise<unknown> {
  const started = await fetch(`${origin}/v1/runs`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: '{"procedure":"add"}',
  })
  const { id } = (await started.json()) as { readonly id: string }
  for (;;) {
    const reply = await fetch(`${origin}/v1/runs/${id}/result?wait=60s`, { headers })
    const body = (await reply.json()) as { readonly output?: unknown }
    if (reply.status === 200) return body.output
  }
}

test('dev replaces the worker when the code changes, and survives a syntax error', async () => {
  using workspace = await createWorkspace({ typescript: true })
  const file = join(workspace.folder, 'procedures.ts')
  const dev = await startDev(workspace)
  try {
    await dev.line(/Working\./)
    expect(await add(dev)).toBe(2)
    expect(existsSync(join(workspace.folder, '.pawl/dev.db'))).toBe(true)
    const before = readFileSync(file, 'utf8')

    writeFileSync(file, before.replace('1 + 1', '20 + 20'))
    await dev.line(/procedures\.ts changed/)
    await dev.line(/Working\./)
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
