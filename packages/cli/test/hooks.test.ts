import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createWorkspace, startServing } from './support/workspace.ts'

const config = `
import { webhooks } from '@pawl/server'
export default {
  server: { hooks: webhooks({ keys: ['${'k'.repeat(32)}'], allowPrivate: true }) },
}
`

test.each(['server', 'dev'] as const)(
  'pawl %s sends the webhooks of its config, and starts runs',
  async (command) => {
    using workspace = await createWorkspace({ typescript: true })
    writeFileSync(join(workspace.folder, 'pawl.config.ts'), config)
    const receiver = createServer((_request, response) => void response.writeHead(204).end()).listen(
      0,
      '127.0.0.1',
    )
    await once(receiver, 'listening')
    const received = once(receiver, 'request')
    const { child, origin, headers } = await startServing(command, workspace)
    const call = async (method: string, path: string, body?: object) => {
      const reply = await fetch(`${origin}/v1${path}`, {
        ...{ method, headers: { ...headers, 'content-type': 'application/json' } },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      return { status: reply.status, body: await reply.json() }
    }
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
    const { body } = await call('POST', '/hooks', { url })
    const { id } = (body as { readonly hook: { readonly id: string } }).hook
    await expect.poll(async () => (await call('POST', `/hooks/${id}/test`, {})).status).toBe(202)
    await received
    const started = await call('POST', '/runs', { procedure: 'elsewhere', id: 'a' })
    expect(started).toMatchObject({ status: 201, body: { id: 'a', procedure: 'elsewhere' } })
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([0, null])
    receiver.close()
  },
)
