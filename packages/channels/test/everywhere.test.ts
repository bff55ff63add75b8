import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createReceiver } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { folder, mail } from '@pawl/channels'
import { createServer, webhooks } from '@pawl/server'
import { expect, test } from 'vitest'
import { startMailServer } from './mail-server.ts'
import { askOnce, silent, start } from './support.ts'

const keys: [string] = ['k'.repeat(32)]
const links = { publicUrl: 'http://127.0.0.1', keys }

interface Told {
  readonly type: string
  readonly data: { readonly ask: { readonly id: string; readonly status: string } }
}

/** A receiver of webhooks on loopback. */
async function startReceiver() {
  const told: Told[] = []
  const server = createReceiver((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk
    })
    request.on('end', () => {
      told.push(JSON.parse(body))
      response.writeHead(204).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { told, url: `http://127.0.0.1:${port}/`, close: () => server.close() }
}

/** An ask that goes to a folder, by mail and to a webhook, and how each of them answers it. */
async function scene() {
  const root = mkdtempSync(join(tmpdir(), 'pawl-everywhere-'))
  const queue = join(root, 'greeting-reviewers', 'approvals')
  const [smtp, receiver] = await Promise.all([startMailServer(), startReceiver()])
  const hooks = webhooks({ keys, allowPrivate: true })
  const byMail = mail({
    domain: 'example.org',
    people: (name) => (name === 'user:ana' ? [{ person: name, address: 'ana@example.org' }] : []),
    send: (one) => smtp.transport.sendMail({ from: 'pawl@example.org', ...one }),
  })
  const engine = await start([folder(root), byMail], { links, plugins: [hooks] })
  const server = createServer({
    ...{ client: engine, links, hooks, logger: silent },
    auth: () => ({ actor: 'user:hook', names: [], role: 'admin' }),
  })
  const call = async (path: string, body: string | URLSearchParams, type = 'application/json') => {
    const headers = { host: '127.0.0.1', 'content-type': type }
    const reply = await server.fetch(
      new Request(`http://127.0.0.1${path}`, { method: 'POST', headers, body }),
    )
    return { status: reply.status, text: await reply.text() }
  }
  await call('/v1/hooks', JSON.stringify({ url: receiver.url, events: ['ask.opened', 'ask.closed'] }))
  const { run, ask } = await askOnce(engine)
  const answers = {
    async folder() {
      await expect
        .poll(() => readdirSync(root, { recursive: true }).map(String))
        .toContainEqual(expect.stringContaining(`${ask.id}.json`))
      writeFileSync(
        join(queue, 'x'),
        JSON.stringify({ by: 'user:rita', resolution: { decision: 'approve' } }),
      )
      renameSync(join(queue, 'x'), join(queue, 'replies', `${ask.id}.json`))
    },
    async mail() {
      await expect.poll(() => smtp.arrived.length).toBe(1)
      const token = /\/a\/(\S+)/.exec(smtp.arrived[0]?.text ?? '')?.[1] ?? ''
      const form = new URLSearchParams({ token, choice: 'approve' })
      return call('/a', form, 'application/x-www-form-urlencoded')
    },
    async webhook() {
      await expect.poll(() => receiver.told.map(({ type }) => type)).toContain('ask.opened')
      const told = receiver.told.find(({ type }) => type === 'ask.opened')
      return call(`/v1/asks/${told?.data.ask.id}/answer`, JSON.stringify({ choice: 'approve' }))
    },
  }
  return {
    ...{ run, ask, answers, smtp, receiver },
    closed: () => JSON.parse(readFileSync(join(queue, 'closed', `${ask.id}.json`), 'utf8')),
    isClosed: () =>
      readdirSync(root, { recursive: true }).some((file) => String(file).includes(join('closed', ask.id))),
    async [Symbol.asyncDispose]() {
      await server.stop()
      await engine.stop()
      await smtp[Symbol.asyncDispose]()
      receiver.close()
      rmSync(root, { recursive: true })
    },
  }
}

test.each([
  ['folder', 'user:rita'],
  ['mail', 'user:ana'],
  ['webhook', 'user:hook'],
] as const)(
  'one ask goes to a folder, by mail and to a webhook: %s answers first, and the others are updated',
  async (first, by) => {
    await using s = await scene()
    await Promise.all([
      expect.poll(() => s.smtp.arrived.length).toBe(1),
      expect.poll(() => s.receiver.told.length).toBe(1),
    ])
    await s.answers[first]()
    expect(await s.run.result()).toBe(`approve by ${by}`)
    await expect.poll(s.isClosed).toBe(true)
    expect(s.closed()).toMatchObject({ status: 'answered', answer: { by } })
    await expect
      .poll(() => s.receiver.told.map(({ type, data }) => `${type} ${data.ask.status}`))
      .toEqual(['ask.opened open', 'ask.closed answered'])
    if (first === 'mail') {
      expect(s.smtp.arrived).toHaveLength(1)
      expect((await s.answers.webhook()).status).toBe(409)
    } else {
      await expect.poll(() => s.smtp.arrived.length).toBe(2)
      expect(s.smtp.arrived[1]?.text).toMatch(new RegExp(`Answered by\\s+\\| ${by}`))
    }
  },
)

test('three answers at once through three places: one wins', async () => {
  await using s = await scene()
  await Promise.all([s.answers.folder(), s.answers.mail(), s.answers.webhook()])
  const result = await s.run.result()
  await expect.poll(s.isClosed).toBe(true)
  expect(result).toBe(`approve by ${s.closed().answer.by}`)
})
