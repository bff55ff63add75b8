import { createEngine, type Procedure, procedure } from '@pawl/core'
import { linkSigner } from '@pawl/core/internal'
import type { ServerOptions } from '@pawl/server'
import { memory } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Dispatch } from '../src/dispatch.ts'
import { changedTables, makeScene } from './security/scene.ts'
import { byToken, dispatchOf, requestOf, silent } from './support/server.ts'

const publicUrl = 'http://127.0.0.1'
const [oldKey, newKey] = ['o'.repeat(32), 'n'.repeat(32)]
const dayMs = 86_400_000

const approve = (name: string, options: object): Procedure<undefined, string> =>
  procedure({ name, output: z.string() }, async (ctx) => {
    const { approved, comment } = await ctx.human.approve('Refund <b>450</b> EUR\u202e?', {
      ...{ to: 'group:support', key: 'approve', params: { order: '"><script>alert(1)</script>' } },
      ...options,
    })
    return `${approved ? 'approved' : 'rejected'}${comment === undefined ? '' : `: ${comment}`}`
  })
const plain = approve('plain', {})
const high = approve('high', { risk: 'high' })
const critical = approve('critical', { risk: 'critical' })
const due = approve('due', { timeout: '1d' })
const data = procedure({ name: 'data' }, async (ctx) => {
  await ctx.human.input('Which order?', z.object({ order: z.string() }), { key: 'approve' })
})
const choose = procedure({ name: 'choose', output: z.string() }, (ctx) =>
  ctx.human.select(
    'Where to?',
    [
      { value: 'staging', label: 'Staging' },
      { value: 'production', label: 'Production', style: 'danger', effect: 'Customers see it.' },
    ],
    { key: 'approve' },
  ),
)

async function scene(keys: readonly [string, ...string[]] = [newKey], options: object = {}) {
  const engine = await createEngine({
    store: memory(),
    procedures: [plain, high, critical, due, data, choose],
    logger: silent,
  })
  const time = { now: Date.now() }
  const open = (ring: readonly [string, ...string[]]) =>
    dispatchOf(
      { client: engine, auth: byToken, links: { publicUrl, keys: ring }, ...options },
      { now: () => time.now },
    )
  const { dispatch, faults } = open(keys)
  return {
    ...{ engine, time, dispatch, faults, open },
    async ask(one: Procedure<undefined, string> | typeof data) {
      const run = await engine.run(one as Procedure<undefined, string>, undefined)
      return { run, ask: await engine.inbox.next({ run: run.id }) }
    },
    async link(ask: { readonly id: string }, body: object = {}, to: Dispatch = dispatch): Promise<string> {
      const path = `/v1/asks/${encodeURIComponent(ask.id)}/links`
      const reply = await to(requestOf('root', 'POST', path, { as: 'user:bob', ...body }))
      const { url } = (await reply.json()) as { readonly url: string }
      return url.slice(`${publicUrl}/a/`.length)
    },
    [Symbol.asyncDispose]: () => engine.stop(),
  }
}

async function get(dispatch: Dispatch, token: string, as: string | null = null, method = 'GET') {
  const reply = await dispatch(requestOf(as, method, `/a/${token}`))
  return { status: reply.status, headers: reply.headers, text: await reply.text() }
}

async function post(
  dispatch: Dispatch,
  fields: Record<string, string>,
  headers: object = {},
  as: string | null = null,
) {
  const form = new URLSearchParams(fields).toString()
  const type = { 'content-type': 'application/x-www-form-urlencoded' }
  const reply = await dispatch(requestOf(as, 'POST', '/a', form, { ...type, ...headers }))
  return { status: reply.status, text: await reply.text() }
}

describe('links', () => {
  test('the form of a link answers as the named person, without script', async () => {
    await using s = await scene()
    const { run, ask } = await s.ask(plain)
    const token = await s.link(ask)
    const page = await get(s.dispatch, token)
    expect(page.status).toBe(200)
    expect(page.text).toContain('<form method="post" action="/a">')
    expect(page.text).not.toContain('<script')
    expect(page.headers.get('cache-control')).toBe('no-store')
    expect(page.headers.get('x-robots-tag')).toContain('noindex')
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    const done = await post(s.dispatch, { token, choice: 'approve', comment: 'go' })
    expect(done).toMatchObject({ status: 200, text: expect.stringContaining('Your answer is stored') })
    expect(await run.result()).toBe('approved: go')
    expect((await s.engine.inbox.get(ask.id))?.answer).toMatchObject({ by: 'user:bob', via: 'link' })
  })

  test('texts of the ask are text, and marks that turn its direction are shown', async () => {
    await using s = await scene()
    const { text } = await get(s.dispatch, await s.link((await s.ask(plain)).ask))
    expect(text).toContain('Refund &lt;b&gt;450&lt;/b&gt; EUR[U+202E]?')
    expect(text).toContain('&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;')
  })

  test('a comment survives the confirmation as it was typed', async () => {
    await using s = await scene()
    const { run, ask } = await s.ask(high)
    const token = await s.link(ask)
    const comment = '"quoted" \u{1F469}\u200d\u{1F467} <b>'
    const { text } = await post(s.dispatch, { token, choice: 'approve', comment })
    const sent = /name="comment" value="([^"]*)"/.exec(text)?.[1] ?? ''
    expect(sent).toBe('&quot;quoted&quot; \u{1F469}\u200d\u{1F467} &lt;b&gt;')
    await post(s.dispatch, { token, choice: 'approve', comment, confirmed: 'yes' })
    expect(await run.result()).toBe(`approved: ${comment}`)
  })

  test('a used link names the winner and stores nothing, and the same form sent again is no error', async () => {
    await using s = await scene()
    const { run, ask } = await s.ask(plain)
    const [bobs, anas] = [await s.link(ask), await s.link(ask, { as: 'user:ana' })]
    await post(s.dispatch, { token: bobs, choice: 'reject' })
    expect((await post(s.dispatch, { token: bobs, choice: 'reject' })).status).toBe(200)
    for (const [token, choice] of [
      [bobs, 'approve'],
      [anas, 'reject'],
    ] as const) {
      const late = await post(s.dispatch, { token, choice })
      expect(late.status).toBe(409)
      expect(late.text).toContain('user:bob')
    }
    expect((await get(s.dispatch, anas)).text).toContain('answered by user:bob')
    expect(await run.result()).toBe('rejected')
  })

  test('a link that is opened too often is refused, and its person can still use the inbox and other links', async () => {
    await using s = await scene()
    const as = { as: 'user:ana' }
    const [token, other] = [
      await s.link((await s.ask(plain)).ask, as),
      await s.link((await s.ask(due)).ask, as),
    ]
    for (let opened = 0; opened < 600; opened += 1) await get(s.dispatch, token)
    expect((await get(s.dispatch, token)).status).toBe(429)
    expect((await get(s.dispatch, other)).status).toBe(200)
    expect((await s.dispatch(requestOf('ana', 'GET', '/v1/me'))).status).toBe(200)
  })

  test('an expired link is refused with 410, on GET and POST', async () => {
    await using s = await scene()
    const { ask } = await s.ask(plain)
    const token = await s.link(ask)
    const short = await s.link(ask, { expires: '2h' })
    s.time.now += 2 * 3_600_000
    expect((await get(s.dispatch, short)).status).toBe(410)
    expect((await post(s.dispatch, { token: short, choice: 'approve' })).status).toBe(410)
    s.time.now += 7 * dayMs - 2 * 3_600_000 - 1
    expect((await get(s.dispatch, token)).status).toBe(200)
    s.time.now += 1
    expect((await get(s.dispatch, token)).status).toBe(410)
    expect((await s.engine.inbox.get(ask.id))?.status).toBe('open')
  })

  test('a link ends with the deadline of its ask', async () => {
    await using s = await scene()
    const { ask } = await s.ask(due)
    const token = await s.link(ask)
    s.time.now = (ask.dueAt?.getTime() ?? 0) - 1
    expect((await get(s.dispatch, token)).status).toBe(200)
    s.time.now += 1
    expect((await get(s.dispatch, token)).status).toBe(410)
  })

  test('a token with any single character changed, cut off or added is refused', async () => {
    await using s = await scene([newKey], { auth: byToken })
    const { ask } = await s.ask(plain)
    const token = await s.link(ask)
    const signer = linkSigner({ publicUrl, keys: [newKey] })
    expect(signer.read(token)).not.toBeNull()
    for (let at = 0; at < token.length; at += 1) {
      expect(signer.read(token.slice(0, at))).toBeNull()
      for (const other of ['A', 'B', '_', '-', '.', '=']) {
        const altered = `${token.slice(0, at)}${other}${token.slice(at + 1)}`
        if (altered !== token) expect(signer.read(altered)).toBeNull()
      }
    }
    for (const more of ['A', '.', '=', `.${token}`]) expect(signer.read(token + more)).toBeNull()
    expect((await get(s.dispatch, `${token}A`)).status).toBe(404)
    expect((await post(s.dispatch, { token: `${token}A`, choice: 'approve' })).status).toBe(404)
    expect(s.faults).toEqual([])
  })

  test('all keys verify, the first signs, and removing a key revokes its links', async () => {
    await using s = await scene([oldKey])
    const { ask } = await s.ask(plain)
    const before = await s.link(ask)
    const rotated = s.open([newKey, oldKey]).dispatch
    const after = await s.link(ask, {}, rotated)
    expect((await get(rotated, before)).status).toBe(200)
    expect((await get(rotated, after)).status).toBe(200)
    expect((await get(s.dispatch, after)).status).toBe(404)
    const revoked = s.open([newKey]).dispatch
    expect((await get(revoked, before)).status).toBe(404)
    expect((await get(revoked, after)).status).toBe(200)
  })

  test.each([
    ['critical risk', critical, {}],
    ['login: true', plain, { login: true }],
  ] as const)(
    'nothing of the ask is shown before the named person has logged in: %s',
    async (_, one, body) => {
      await using s = await scene()
      const { run, ask } = await s.ask(one)
      const token = await s.link(ask, { as: 'user:ana', ...body })
      for (const as of [null, 'wrong', 'root', 'eve']) {
        const page = await get(s.dispatch, token, as)
        expect(page.status).toBe(401)
        for (const secret of ['Refund', 'script', one.name, 'Approve'])
          expect(page.text).not.toContain(secret)
        const sent = await post(s.dispatch, { token, choice: 'approve', confirmed: 'yes' }, {}, as)
        expect(sent.status).toBe(401)
        expect(sent.text).not.toContain('Refund')
      }
      expect((await s.engine.inbox.get(ask.id))?.status).toBe('open')
      expect((await get(s.dispatch, token, 'ana')).text).toContain('Refund')
      await post(s.dispatch, { token, choice: 'approve', confirmed: 'yes' }, {}, 'ana')
      expect(await run.result()).toBe('approved')
    },
  )

  test.each([
    ['an approval at high risk', high, 'approve', 'reject'],
    ['a choice in style danger', choose, 'production', 'staging'],
  ] as const)('asks once more: %s', async (_, one, dangerous, harmless) => {
    await using s = await scene()
    const { ask } = await s.ask(one)
    const token = await s.link(ask)
    const page = await post(s.dispatch, { token, choice: dangerous })
    expect(page.text).toContain('name="confirmed" value="yes"')
    expect((await s.engine.inbox.get(ask.id))?.status).toBe('open')
    await post(s.dispatch, { token, choice: dangerous, confirmed: 'yes' })
    expect((await s.engine.inbox.get(ask.id))?.status).toBe('answered')
    const other = await s.ask(one)
    await post(s.dispatch, { token: await s.link(other.ask), choice: harmless })
    expect((await s.engine.inbox.get(other.ask.id))?.status).toBe('answered')
  })

  test('a link permits the listed answers alone', async () => {
    await using s = await scene()
    const { ask } = await s.ask(plain)
    const token = await s.link(ask, { allow: ['reject'] })
    expect((await get(s.dispatch, token)).text).not.toContain('value="approve"')
    for (const choice of ['approve', 'production', ''])
      expect((await post(s.dispatch, { token, choice })).status).toBe(400)
    expect((await s.engine.inbox.get(ask.id))?.status).toBe('open')
  })

  test('a form of another site, of another type or without a token is refused', async () => {
    await using s = await scene()
    const { ask } = await s.ask(plain)
    const token = await s.link(ask)
    const fields = { token, choice: 'approve' }
    expect((await post(s.dispatch, fields, { origin: 'https://evil.example' })).status).toBe(403)
    expect((await post(s.dispatch, fields, { origin: 'null', 'sec-fetch-site': 'cross-site' })).status).toBe(
      403,
    )
    expect((await post(s.dispatch, fields, { 'content-type': 'application/json' })).status).toBe(415)
    expect((await post(s.dispatch, fields, { host: 'evil.example' })).status).toBe(421)
    expect((await post(s.dispatch, { choice: 'approve' })).status).toBe(404)
    expect((await s.engine.inbox.get(ask.id))?.status).toBe('open')
    expect((await post(s.dispatch, fields, { origin: 'null', 'sec-fetch-site': 'same-origin' })).status).toBe(
      200,
    )
  })

  test('links of unknown answers, of too long a time and of closed asks are refused', async () => {
    await using s = await scene()
    const make = async (ask: { readonly id: string }, body: object) => {
      const path = `/v1/asks/${encodeURIComponent(ask.id)}/links`
      return (await s.dispatch(requestOf('root', 'POST', path, { as: 'user:bob', ...body }))).status
    }
    const { ask } = await s.ask(plain)
    expect(await make((await s.ask(data)).ask, { allow: ['approve'] })).toBe(400)
    expect(await make(ask, { allow: ['production'] })).toBe(400)
    expect(await make(ask, { expires: '91d' })).toBe(400)
    await s.engine.inbox.answer(ask.id, { approved: true }, { as: 'user:ana' })
    expect(await make(ask, {})).toBe(409)
  })

  test('selfApproval and may bind the person of a link, too', async () => {
    await using s = await scene([newKey], { selfApproval: false })
    const run = await s.engine.run(plain, undefined, { by: 'user:bob' })
    const ask = await s.engine.inbox.next({ run: run.id })
    expect((await post(s.dispatch, { token: await s.link(ask), choice: 'approve' })).status).toBe(403)
    const may = (identity: { readonly actor: string }) => identity.actor !== 'user:bob'
    await using narrowed = await scene([newKey], { may })
    const hidden = await narrowed.ask(plain)
    const page = await get(narrowed.dispatch, await narrowed.link(hidden.ask))
    expect(page.status).toBe(404)
    expect(page.text).not.toContain('Refund')
  })

  test('after ten bad links from an address the next get 429, and good ones do not', async () => {
    await using s = await scene()
    const { ask } = await s.ask(plain)
    const token = await s.link(ask)
    const { noteAddress } = await import('../src/http/address.ts')
    const visit = async (path: string) => {
      const request = requestOf(null, 'GET', path)
      noteAddress(request, '192.0.2.7')
      return (await s.dispatch(request)).status
    }
    for (let n = 0; n < 10; n += 1) expect(await visit(`/a/bad${n}`)).toBe(404)
    expect(await visit('/a/bad')).toBe(429)
    expect(await visit(`/a/${token}`)).toBe(200)
  })
})

test('GET and HEAD of a link change no table of the store', async () => {
  const made = await makeScene()
  const world = await made.open()
  const path = `/v1/asks/${encodeURIComponent(made.ask)}/links`
  const reply = await world.dispatch(requestOf('root', 'POST', path, { as: 'user:bob' }))
  const { pathname } = new URL(((await reply.json()) as { readonly url: string }).url)
  const before = world.dump()
  for (const method of ['GET', 'HEAD', 'GET', 'OPTIONS'])
    await world.dispatch(requestOf(null, method, pathname, undefined, { 'user-agent': 'MailScanner/1.0' }))
  expect(changedTables(before, world.dump())).toEqual([])
  const form = `token=${pathname.slice('/a/'.length)}&choice=approve`
  const type = { 'content-type': 'application/x-www-form-urlencoded' }
  expect((await world.dispatch(requestOf(null, 'POST', '/a', form, type))).status).toBe(200)
  expect(changedTables(before, world.dump())).toContain('asks')
  await world.close()
  made.remove()
})

test.each([
  ['a function as client', { client: () => null }],
  ['a short key', { links: { publicUrl, keys: ['short'] } }],
  ['no key', { links: { publicUrl, keys: [] } }],
  ['an address without a protocol', { links: { publicUrl: 'pawl.example.org', keys: [newKey] } }],
])('createServer refuses links with %s', async (_, options) => {
  const engine = await createEngine({ store: memory(), procedures: [], logger: silent })
  const links = { publicUrl, keys: [newKey] as const }
  const given: object = { client: engine, links, ...options }
  expect(() => dispatchOf(given as ServerOptions)).toThrow(/links/)
  await engine.stop()
})
