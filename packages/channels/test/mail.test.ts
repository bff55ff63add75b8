import { type Mailbox, type MailOptions, mail } from '@pawl/channels'
import { procedure } from '@pawl/core'
import { createServer } from '@pawl/server'
import { expect, test } from 'vitest'
import { startMailServer } from './mail-server.ts'
import { askOnce, greet, silent, start } from './support.ts'

const links = { publicUrl: 'http://127.0.0.1', keys: ['k'.repeat(32)] } as const
const boxes: Readonly<Record<string, readonly Mailbox[]>> = {
  'user:ana': [{ person: 'user:ana', address: 'ana@example.org' }],
  'user:bob': [{ person: 'user:bob', address: 'bob@example.org' }],
}
const people = (name: string) => boxes[name] ?? []

async function startMail(options: Partial<MailOptions> = {}, more: Parameters<typeof start>[1] = {}) {
  const smtp = await startMailServer()
  const channel = mail({
    ...{ people, domain: 'example.org' },
    send: (one) => smtp.transport.sendMail({ from: 'pawl@example.org', ...one }),
    ...options,
  })
  const engine = await start([channel], { links, ...more })
  const server = createServer({ client: engine, links, auth: () => null, logger: silent })
  return {
    ...{ smtp, channel, engine },
    /** Opens an address of a mail, or sends its form. */
    async open(address: string, form?: Record<string, string>) {
      const headers = { host: '127.0.0.1', 'content-type': 'application/x-www-form-urlencoded' }
      const request =
        form === undefined
          ? new Request(address, { headers })
          : new Request('http://127.0.0.1/a', { method: 'POST', headers, body: new URLSearchParams(form) })
      return (await server.fetch(request)).text()
    },
    async [Symbol.asyncDispose]() {
      await server.stop()
      await engine.stop()
      await smtp[Symbol.asyncDispose]()
    },
  }
}

const linkIn = (text = ''): string => /http:\/\/127\.0\.0\.1\/a\/\S+/.exec(text)?.[0] ?? ''

test('each person gets a mail with a link of their own, and the others are told who answered', async () => {
  await using s = await startMail()
  const { run } = await askOnce(s.engine)
  await expect.poll(() => s.smtp.arrived.length).toBe(2)
  const [anas] = s.smtp.to('ana@example.org')
  const [bobs] = s.smtp.to('bob@example.org')
  expect(anas?.headers).toMatchObject({
    subject: 'Question: Approve this greeting?',
    'auto-submitted': 'auto-generated',
  })
  expect(anas?.text).toContain('Hello, Ada')
  const [first, second] = [linkIn(anas?.text), linkIn(bobs?.text)]
  expect(first).not.toBe(second)
  // Scanners of mail open every link.
  for (let n = 0; n < 5; n += 1) await s.open(first)
  expect(await s.open(second)).toContain('Approve this greeting?')
  await s.open(second, { token: second.slice('http://127.0.0.1/a/'.length), choice: 'approve' })
  expect(await run.result()).toBe('approve by user:bob')
  await expect.poll(() => s.smtp.to('ana@example.org').length).toBe(2)
  const [, told] = s.smtp.to('ana@example.org')
  expect(told?.text.split(/\r?\n/)).toEqual([
    ...['It is closed: answered. No action is needed.', ''],
    ...['Question', '| Approve this greeting?', '', 'Answered by', '| user:bob', '', ''],
  ])
  expect(told?.headers['in-reply-to']).toBe(anas?.headers['message-id'])
  expect(s.smtp.to('bob@example.org')).toHaveLength(1)
})

test('a reply is a comment, whatever it says and whatever sender it claims', async () => {
  await using s = await startMail()
  const { run, ask } = await askOnce(s.engine)
  await expect.poll(() => s.smtp.arrived.length).toBe(2)
  const inReplyTo = s.smtp.to('ana@example.org')[0]?.headers['message-id']
  for (const text of ['approve', '{"choice":"approve"}', 'Yes!'])
    expect(await s.channel.receive({ from: 'ana@example.org', text, inReplyTo })).toBe(true)
  expect(
    await s.channel.receive({ from: 'ana@example.org', text: 'approve', inReplyTo: '<other@example.org>' }),
  ).toBe(false)
  // Who knows the id of the ask has not received a mail about it.
  const guesses = [
    `<pawl.${ask.id}.${'0'.repeat(16)}@example.org>`,
    inReplyTo?.replace('@example.org', '@example.com'),
    `pawl.${ask.id}`,
  ]
  for (const guess of guesses)
    expect(await s.channel.receive({ from: 'eve@example.org', text: 'forged', inReplyTo: guess })).toBe(false)
  expect((await s.engine.inbox.get(ask.id))?.status).toBe('open')
  const log = async () => JSON.stringify(await s.engine.log(`notify:${ask.id}:mail`))
  await expect.poll(log).toContain('{"by":"user:ana@example.org","comment":"Yes!"}')
  expect(await log()).not.toContain('forged')
  await s.engine.inbox.answer(ask.id, { choice: 'reject' }, { as: 'user:bob' })
  expect(await run.result()).toBe('reject by user:bob')
})

test('an outage of the mail server settles nothing, and the mail is sent when it is over', async () => {
  await using s = await startMail()
  s.smtp.state.isDown = true
  const { ask } = await askOnce(s.engine)
  await expect.poll(() => s.smtp.state.refused).toBeGreaterThan(1)
  expect(await s.engine.inbox.get(ask.id)).toMatchObject({
    status: 'open',
    deliveries: [{ channel: 'mail' }],
  })
  s.smtp.state.isDown = false
  await expect.poll(() => s.smtp.arrived.length).toBe(2)
})

const critical = procedure({ name: 'critical' }, async (ctx): Promise<string> => {
  await ctx.human.approve('Delete the archive of 1999?', {
    to: 'user:ana',
    risk: 'critical',
    params: { table: 'archive' },
  })
  return ''
})

test('a mail about a critical ask says nothing of it, and neither does its link before a login', async () => {
  const chat = { name: 'chat', can: { form: 'none', identity: 'verified' }, deliver: async () => {} } as const
  const smtp = await startMailServer()
  const send = (one: object) => smtp.transport.sendMail({ from: 'pawl@example.org', ...one })
  const channel = mail({ people, domain: 'example.org', send })
  await using engine = await start([channel, chat], { links, procedures: [critical] })
  await askOnce(engine, critical)
  await expect.poll(() => smtp.arrived.length).toBe(1)
  const [one] = smtp.arrived
  for (const secret of ['Delete', 'archive', '1999']) expect(JSON.stringify(one)).not.toContain(secret)
  const server = createServer({ client: engine, links, auth: () => null, logger: silent })
  const page = await server.fetch(new Request(linkIn(one?.text), { headers: { host: '127.0.0.1' } }))
  expect(page.status).toBe(401)
  expect(await page.text()).not.toContain('archive')
  await server.stop()
  await smtp[Symbol.asyncDispose]()
})

test('a message cannot add headers to its mail', async () => {
  const hostile = procedure({ name: 'hostile' }, async (ctx): Promise<string> => {
    await ctx.human.approve('Pay?\r\nBcc: eve@example.org\r\n\r\nHi', { to: 'user:ana' })
    return ''
  })
  await using s = await startMail({}, { procedures: [greet, hostile] })
  await askOnce(s.engine, hostile)
  await expect.poll(() => s.smtp.arrived.length).toBe(1)
  expect(s.smtp.arrived[0]).toMatchObject({
    to: ['ana@example.org'],
    headers: { subject: 'Question: Pay? Bcc: eve@example.org Hi' },
  })
  expect(s.smtp.arrived[0]?.headers['bcc']).toBeUndefined()
})

test('no value in a mail can look like another line of it, and what is left out is said', async () => {
  const pay = procedure({ name: 'pay' }, async (ctx) => {
    await ctx.human.approve('Pay?', {
      to: 'user:ana',
      params: {
        note: 'thanks\namount: 1\n\nDue never',
        'memo\namount': 'a\u202eb',
        text: 'x'.repeat(6_000),
        amount: 1_000_000,
      },
      details: [{ title: 'Letter', body: `Dear all,\n${'word '.repeat(30)}\namount: 1` }],
    })
  })
  await using s = await startMail({}, { procedures: [pay] })
  await s.engine.run(pay, undefined)
  await expect.poll(() => s.smtp.arrived.length).toBe(1)
  const lines = (s.smtp.arrived[0]?.text ?? '').split(/\r?\n/)
  expect(lines.filter((line) => /^\| *amount:/.test(line))).toEqual(['| amount: 1000000'])
  expect(lines).toContain('|   | amount: 1')
  expect(lines).toContain('|   | Due never')
  expect(lines).toContain('| memo amount: a[U+202E]b')
  expect(lines.join('\n')).toContain('(The rest is not in this mail. Read all of it before you answer.)')
  for (const line of lines.filter((line) => line.includes('|'))) expect(line.length).toBeLessThan(80)
})

const lure = 'Answer it here: https://evil.example/a/1'

test('no text of a run can read as a line of its mail, whose own link comes first', async () => {
  const trap = procedure({ name: 'trap' }, async (ctx): Promise<string> => {
    const { choice } = await ctx.human.review('{lure}', `ok\r\n\r\n${lure}\n\r${lure}`, {
      choices: ['approve', { value: 'reject', label: 'Answer it here', effect: 'https://evil.example/a/3' }],
      ...{ to: 'user:ana', data: { lure }, timeout: '1h', onTimeout: { escalateTo: 'user:bob' } },
      risk: { level: 'low', reasons: [lure], impact: { affects: `x\n${lure}` } },
      details: [
        { title: 'Answer it here', body: 'https://evil.example/a/2' },
        { title: `x\n${lure}`, body: `${lure}\u2028${lure}\n${lure}` },
      ],
      links: [
        { label: 'Answer it here', url: 'https://evil.example/a/4' },
        { label: `${'long '.repeat(38)}\n`, url: `https://evil.example/${'x'.repeat(200)} ${lure}` },
      ],
      alternatives: [{ label: lure, description: lure }, { label: lure }],
    })
    return choice
  })
  await using s = await startMail({}, { procedures: [trap] })
  await askOnce(s.engine, trap)
  await expect.poll(() => s.smtp.arrived.length).toBe(1)
  const lines = (s.smtp.arrived[0]?.text ?? '').split(/\r?\n/)
  expect(s.smtp.arrived[0]?.headers['subject']).toBe(`Question: ${lure}`)
  expect(lines[0]).toMatch(/^Answer it here: http:\/\/127\.0\.0\.1\/a\/\S+$/)
  expect(lines.filter((line) => !line.startsWith('| ') && line !== '').slice(1)).toEqual([
    'Lines that begin with "|" come from the run: no link in them answers.',
    ...['Question', 'Low risk', 'For review', 'Details', 'Instead', 'What follows', 'Links of the run'],
    expect.stringMatching(/^Due .* GMT, then$/),
    'A reply to this mail is kept as a comment. It does not answer.',
  ])
  // A label never stands without the address that it leads to.
  expect(lines).toContain('| Answer it here: https://evil.example/a/4')
  expect(lines).toContain(
    `|   | https://evil.example/${'x'.repeat(200)}%20Answer%20it%20here:%20https://evil.example/a/1`,
  )
})

test('no text of a run can read as a line of the mail that tells how its question ended', async () => {
  const trap = procedure({ name: 'trap' }, async (ctx): Promise<string> => {
    await ctx.human.approve('{lure}', { to: ['user:ana', 'user:bob'], data: { lure: `${lure}\n${lure}` } })
    return ''
  })
  await using s = await startMail({}, { procedures: [trap] })
  const { run } = await askOnce(s.engine, trap)
  await expect.poll(() => s.smtp.arrived.length).toBe(2)
  await run.cancel()
  await expect.poll(() => s.smtp.arrived.length).toBe(4)
  const own = (s.smtp.arrived[3]?.text ?? '').split(/\r?\n/).filter((line) => !line.startsWith('| '))
  expect(own.filter((line) => line !== '')).toEqual([
    ...['It is closed: withdrawn. No action is needed.', 'Question'],
  ])
})
