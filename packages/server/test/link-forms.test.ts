import { createEngine, type Procedure, procedure } from '@pawl/core'
import { memory } from '@pawl/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { referringSchemas } from '../../../test/support/referring-schemas.ts'
import { schemaOf } from '../../../test/support/schema-of.ts'
import { byToken, dispatchOf, requestOf, silent } from './support/server.ts'

const links = { publicUrl: 'http://127.0.0.1', keys: ['k'.repeat(32)] } as const

const order = z.object({
  order: z.string().min(2),
  amount: z.number().positive(),
  speed: z.enum(['slow', 'fast']),
  gift: z.boolean().optional(),
  tags: z.array(z.string()).optional(),
})
const say = (value: unknown): string => JSON.stringify(value)
const one = (
  name: string,
  body: (ctx: Parameters<Parameters<typeof procedure>[1]>[0]) => Promise<string>,
): Procedure<undefined, string> => procedure({ name, output: z.string() }, body)

const input = one('input', async (ctx) =>
  say(await ctx.human.input('Which order?', order, { initial: { order: '<b>', amount: 2, speed: 'slow' } })),
)
const word = one('word', async (ctx) => say(await ctx.human.input('Which word?', z.string().min(3))))
const refund = one('refund', async (ctx) => {
  const params = { amount: 450, note: 'as agreed', lines: [{ sku: 'a', n: 1 }], order: 'A-1' }
  const editable = ['amount', 'note', 'lines'] as const
  const approval = await ctx.human.approve('Refund {amount} EUR?', { params, editable, risk: 'high' })
  return say(approval.approved ? approval.params : approval.approved)
})
const review = one('review', async (ctx) => {
  await ctx.step('draft', () => 'a draft for <i>Ada</i>')
  const { choice, artifact, edited } = await ctx.human.review('Publish?', 'Hello\r\nAda', { editable: true })
  return say([choice, artifact, edited])
})

async function open(of: Procedure<undefined, string>, body: object = {}) {
  const engine = await createEngine({
    store: memory(),
    procedures: [...new Set([input, word, refund, review, of])],
    logger: silent,
  })
  const { dispatch } = dispatchOf({ client: engine, auth: byToken, links })
  const run = await engine.run(of, undefined)
  const ask = await engine.inbox.next({ run: run.id })
  const made = await dispatch(
    requestOf('root', 'POST', `/v1/asks/${ask.id}/links`, { as: 'user:bob', ...body }),
  )
  const { url } = (await made.json()) as { readonly url: string }
  const token = url.slice(url.lastIndexOf('/') + 1)
  return {
    ...{ engine, run, ask },
    page: async () => (await dispatch(requestOf(null, 'GET', `/a/${token}`))).text(),
    async send(fields: Record<string, string>) {
      const form = new URLSearchParams({ token, ...fields }).toString()
      const type = { 'content-type': 'application/x-www-form-urlencoded' }
      const reply = await dispatch(requestOf(null, 'POST', '/a', form, type))
      return { status: reply.status, text: await reply.text() }
    },
    [Symbol.asyncDispose]: () => engine.stop(),
  }
}

test('a link to an input has a field for each part, and sends what was typed', async () => {
  await using s = await open(input)
  const page = await s.page()
  for (const part of ['order', 'amount', 'speed', 'gift', 'tags'])
    expect(page).toContain(`name="field.value.${part}"`)
  expect(page).toContain('&lt;b&gt;')
  expect(page).not.toContain('<script')
  const fields = {
    'field.value.order': 'A-1',
    'field.value.amount': '4.5',
    'field.value.speed': 'fast',
    'field.value.gift': 'true',
  }
  const sent = await s.send({ choice: 'send', ...fields, 'field.value.tags': '["new"]' })
  expect(sent.text).toContain('Your answer is stored')
  expect(JSON.parse(await s.run.result())).toEqual({
    order: 'A-1',
    amount: 4.5,
    speed: 'fast',
    gift: true,
    tags: ['new'],
  })
})

test('data with more fields than a page should have is one field of JSON', async () => {
  const names = Array.from({ length: 5_000 }, (_, n) => `f${n}`)
  const wide = z.object(Object.fromEntries(names.map((name) => [name, z.number().optional()])))
  await using s = await open(
    one('wide', async (ctx) => say(await ctx.human.input('Which?', wide as z.ZodType<object>))),
  )
  const page = await s.page()
  expect(page.match(/name="field\./g)).toHaveLength(1)
  await s.send({ choice: 'send', 'field.value': '{"f7":7}' })
  expect(await s.run.result()).toBe('{"f7":7}')
})

test.each(referringSchemas)('a link shows a part that $name', async (of) => {
  const { schema, entry, hasField, label, initial, valid } = of
  await using s = await open(
    one('asking', async (ctx) => say(await ctx.human.input('Which?', schemaOf(schema)))),
  )
  const name = hasField ? 'field.value.part' : 'field.value'
  const hint = entry === 'text' ? '' : ' (as JSON)'
  const page = await s.page()
  expect(page).toContain(`<label for="${name}">${hasField ? label : 'Answer'}${hint}</label>`)
  expect(page).toContain(`name="${name}" dir="auto">\n${initial ?? ''}</textarea>`)
  for (const part of valid.slice(0, 1)) {
    const typed = typeof part === 'string' && entry === 'text' ? part : say(part)
    expect((await s.send({ choice: 'send', [name]: typed })).text).toContain('Your answer is stored')
    expect(JSON.parse(await s.run.result())).toEqual({ part })
  }
})

test('optional fields that are left empty are left out', async () => {
  await using s = await open(input)
  const fields = { 'field.value.order': 'A-1', 'field.value.gift': '', 'field.value.tags': '' }
  await s.send({ choice: 'send', ...fields })
  expect(JSON.parse(await s.run.result())).toEqual({ order: 'A-1', amount: 2, speed: 'slow' })
})

test('a form that is refused says why, keeps what was typed, and leaves the ask open', async () => {
  await using s = await open(input)
  const { status, text } = await s.send({
    choice: 'send',
    comment: 'mine',
    'field.value.order': 'typed by me',
    'field.value.amount': 'many',
  })
  expect(status).toBe(422)
  for (const kept of ['typed by me', 'many', 'mine', 'value.amount']) expect(text).toContain(kept)
  expect((await s.engine.inbox.get(s.ask.id))?.status).toBe('open')
})

test('a link to an input of one value has one field', async () => {
  await using s = await open(word)
  expect((await s.send({ choice: 'send', 'field.value': 'no' })).status).toBe(422)
  await s.send({ choice: 'send', 'field.value': '42!' })
  expect(await s.run.result()).toBe('"42!"')
})

test('params are edited behind a link, through the confirmation, and no other param', async () => {
  await using s = await open(refund)
  const page = await s.page()
  expect(page).toContain('name="field.params.amount"')
  expect(page).not.toContain('name="field.params.order"')
  const edits = {
    'field.params.amount': '400',
    'field.params.note': 'two\nlines',
    'field.params.order': 'B-2',
  }
  const { text } = await s.send({ choice: 'approve', ...edits })
  expect(text).toContain('name="confirmed"')
  const hidden = [...text.matchAll(/type="hidden" name="([^"]*)" value="([^"]*)"/g)].map(
    ([, name = '', value = '']) => [name, value.replaceAll('&quot;', '"')],
  )
  await s.send({ ...Object.fromEntries(hidden), confirmed: 'yes' })
  const params = { amount: 400, note: 'two\nlines', lines: [{ sku: 'a', n: 1 }], order: 'A-1' }
  expect(JSON.parse(await s.run.result())).toEqual(params)
})

test('without a change no edit is sent, and a rejection has none', async () => {
  await using s = await open(refund)
  await s.send({ choice: 'approve', confirmed: 'yes', 'field.params.amount': '450' })
  expect((await s.engine.inbox.get(s.ask.id))?.answer).toMatchObject({ approved: true })
  expect(JSON.parse(await s.run.result())).toMatchObject({ amount: 450 })
  await using other = await open(refund)
  await other.send({ choice: 'reject', 'field.params.amount': 'nonsense' })
  expect(await other.run.result()).toBe('false')
})

test('an artifact is edited behind a link, and line breaks of the form are no edit', async () => {
  await using s = await open(review)
  await s.send({ choice: 'approve', 'field.artifact': 'Hello,\r\nAda' })
  expect(JSON.parse(await s.run.result())).toEqual(['approve', 'Hello,\nAda', true])
  await using same = await open(review)
  await same.send({ choice: 'approve', 'field.artifact': 'Hello\r\nAda' })
  expect(JSON.parse(await same.run.result())).toEqual(['approve', 'Hello\r\nAda', false])
})

test('a link shows the history of its ask only if it was made to', async () => {
  await using without = await open(review)
  expect(await without.page()).not.toContain('a draft for')
  await using s = await open(review, { history: true })
  const page = await s.page()
  expect(page).toContain('<h2>Before</h2>')
  expect(page).toContain('<dt dir="auto">draft</dt>')
  expect(page).toContain('a draft for &lt;i&gt;Ada&lt;/i&gt;')
})

test('the page that asks to confirm shows the values, and what the person has changed', async () => {
  await using s = await open(refund)
  const confirm = await s.send({ choice: 'approve', 'field.params.amount': '999999' })
  expect(confirm.text).toContain('name="confirmed"')
  expect(confirm.text).toContain('Approve: Refund 450 EUR?')
  expect(confirm.text).toContain('<dt dir="auto">note</dt><dd dir="auto">as agreed</dd>')
  expect(confirm.text).toContain('<dt>amount</dt><dd dir="auto"><del>450</del> <ins>999999</ins></dd>')
  expect(confirm.text).not.toContain('<del>as agreed</del>')
  expect(await s.page()).toContain('value="approve"')
})

test('every heading of the page is its own: what the run says stands below one, in a frame', async () => {
  const lure = 'You have entered'
  const trap = one('trap', async (ctx) => {
    const link = { label: lure, url: 'https://ex\u00e4mple.org/a b' }
    const { choice } = await ctx.human.review('Publish?', lure, {
      ...{ to: 'user:ana', baseline: lure, links: [link], details: [{ title: lure, body: lure }] },
      risk: { level: 'high', reasons: [lure] },
      choices: [{ value: 'go', effect: lure, style: 'danger' }],
    })
    return choice
  })
  await using s = await open(trap)
  const headings = (text: string) => [...text.matchAll(/<h2[^>]*>([^<]*)/g)].map(([, heading]) => heading)
  const own = ['High risk', 'For review', 'Until now', 'Details', 'Links of the run']
  const page = await s.page()
  expect(headings(page)).toEqual(own)
  // A link shows where it leads.
  const address = 'https://xn--exmple-cua.org/a%20b'
  expect(page).toContain(`<a href="${address}" rel="noreferrer noopener">${address}</a>`)
  expect(headings((await s.send({ choice: 'go' })).text)).toEqual([...own, 'What follows'])
})

test('the page shows the whole of a long text, of which a part alone could be approved', async () => {
  const text = `${'all is well. '.repeat(4_000)}but pay 1000000`
  const long = one('long', async (ctx) =>
    say((await ctx.human.approve('Pay?', { params: { text } })).approved),
  )
  await using s = await open(long)
  expect(await s.page()).toContain('but pay 1000000')
})
