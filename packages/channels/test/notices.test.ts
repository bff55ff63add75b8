import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { folder, type MailOptions, mail } from '@pawl/channels'
import { type Audience, type NotifyOptions, procedure } from '@pawl/core'
import { describe, expect, test } from 'vitest'
import { startMailServer } from './mail-server.ts'
import { askOnce, greet, queue, start } from './support.ts'

const links = { publicUrl: 'http://127.0.0.1', keys: ['k'.repeat(32)] } as const
const hostile = 'Order 7 is late\r\nCritical: pay now\nBcc: eve@example.org\n\nIt was a\u202eb'

const telling = (message: string, options: NotifyOptions) =>
  procedure({ name: 'telling' }, async (ctx): Promise<string> => {
    await ctx.human.notify('{message}', { data: { message }, ...options })
    return 'told'
  })

describe('folder', () => {
  function makeQueues() {
    const root = mkdtempSync(join(tmpdir(), 'pawl-notices-'))
    const place = join(root, 'greeting-reviewers', 'approvals')
    return {
      ...{ root, place },
      /** Without the files that are still being written. */
      list: (part: string) =>
        (existsSync(join(place, part)) ? readdirSync(join(place, part)) : []).filter(
          (name) => !name.startsWith('.'),
        ),
      [Symbol.dispose]: () => rmSync(root, { recursive: true }),
    }
  }

  test('a notice to a queue is a file in its folder, and a reply to it is refused', async () => {
    using queues = makeQueues()
    const tell = telling('Order 7 is\u202e late', {
      ...{ to: [queue, 'user:ana'], severity: 'warning' },
      details: [{ title: 'Since', body: 'noon' }],
      links: [{ label: 'Order', url: 'https://example.org/7' }],
    })
    await using engine = await start([folder(queues.root)], { links, procedures: [tell] })
    const run = await engine.run(tell)
    await expect.poll(() => queues.list('notices')).toHaveLength(1)
    const [notice] = (await engine.inbox.notices()).items
    const id = notice?.id ?? ''
    const text = readFileSync(join(queues.place, 'notices', `${id}.json`), 'utf8')
    expect(text).not.toContain('\u202e')
    expect(JSON.parse(text)).toEqual({
      ...{ notice: id, run: run.id, procedure: 'telling', kind: 'notice', severity: 'warning' },
      ...{ scope: 'greeting-reviewers', queue: 'approvals', message: 'Order 7 is\u202e late' },
      sections: [{ title: 'Since', body: 'noon' }],
      links: [{ label: 'Order', url: 'https://example.org/7' }],
      ...{ at: notice?.at.toISOString(), page: 'http://127.0.0.1/#/notices' },
    })
    writeFileSync(join(queues.place, 'x'), '{"by":"user:rita","resolution":{"decision":"approve"}}')
    renameSync(join(queues.place, 'x'), join(queues.place, 'replies', `${id}.json`))
    await expect.poll(() => queues.list('refused')).toHaveLength(2)
    expect(queues.list('requests')).toEqual([])
  })

  test('takes the notices to a queue that `wants` agrees to', async () => {
    using queues = makeQueues()
    const tell = procedure({ name: 'tell' }, async (ctx): Promise<string> => {
      await ctx.human.notify('For ana', { to: 'user:ana', severity: 'error' })
      await ctx.human.notify('Not worth it', { to: queue })
      await ctx.human.notify('Worth it', { to: queue, severity: 'error' })
      return ''
    })
    const channel = folder(queues.root, {
      wants: ({ kind, severity }) => kind !== 'notice' || severity !== 'info',
    })
    await using engine = await start([channel], { procedures: [greet, tell] })
    await (await engine.run(tell)).result()
    const { ask } = await askOnce(engine)
    await expect.poll(() => queues.list('requests')).toEqual([`${ask.id}.json`])
    await expect.poll(() => queues.list('notices')).toHaveLength(1)
    const [file = ''] = queues.list('notices')
    expect(readFileSync(join(queues.place, 'notices', file), 'utf8')).toContain('"Worth it"')
  })
})

describe('mail', () => {
  const addresses: Readonly<Record<string, string>> = {
    'user:ana': 'ana@example.org',
    'user:bob': 'bob@example.org',
  }
  const people = (name: Audience) => {
    const persons =
      name === 'group:ops'
        ? (['user:ana', 'user:bob'] as const)
        : name === 'user:ana'
          ? ([name] as const)
          : []
    return persons.map((person) => ({ person, address: addresses[person] ?? '' }))
  }

  async function startMail(tell: ReturnType<typeof telling>, options: Partial<MailOptions> = {}) {
    const smtp = await startMailServer()
    const send: MailOptions['send'] = (one) => smtp.transport.sendMail({ from: 'pawl@example.org', ...one })
    const channel = mail({ ...{ people, domain: 'example.org', send }, ...options })
    const engine = await start([channel], { links, procedures: [greet, tell] })
    return {
      ...{ smtp, engine, channel },
      async [Symbol.asyncDispose]() {
        await engine.stop()
        await smtp[Symbol.asyncDispose]()
      },
    }
  }

  test('each person whom a notice names gets one mail, with its level and no link that answers', async () => {
    const tell = telling('Order 7 is late', {
      ...{ to: ['group:ops', 'user:ana'], severity: 'warning' },
      details: [{ title: 'Since', body: 'noon' }],
      links: [{ label: 'Order', url: 'https://example.org/7' }],
    })
    await using s = await startMail(tell)
    await (await s.engine.run(tell, undefined, { id: 'order:7' })).result()
    await expect.poll(() => s.smtp.arrived.length).toBe(2)
    const [anas, ...more] = s.smtp.to('ana@example.org')
    expect(more).toEqual([])
    expect(anas?.headers).toMatchObject({
      subject: 'Warning: Order 7 is late',
      'auto-submitted': 'auto-generated',
    })
    expect(anas?.text.split(/\r?\n/).filter((line) => line !== '')).toEqual([
      'Notices in the inbox: http://127.0.0.1/#/notices',
      'Lines that begin with "|" come from the run: no link in them answers.',
      ...['Warning', '| Order 7 is late', 'Details', '| Since: noon'],
      ...['Links of the run', '| Order: https://example.org/7', 'Run', '| order:7'],
      'It needs no answer. A reply to this mail is not read.',
    ])
  })

  test('a reply to a mail about a notice belongs to no ask', async () => {
    const tell = telling('Order 7 is late', { to: 'user:ana' })
    await using s = await startMail(tell)
    await s.engine.run(tell)
    await expect.poll(() => s.smtp.arrived.length).toBe(1)
    const inReplyTo = s.smtp.arrived[0]?.headers['message-id']
    expect(inReplyTo).toMatch(/^<pawl\.notice-\d+\.[0-9a-f]{16}@example\.org>$/)
    expect(await s.channel.receive({ from: 'ana@example.org', text: 'approve', inReplyTo })).toBe(false)
  })

  test('no text from outside adds a header, another level or a line to a mail', async () => {
    const tell = telling(hostile, {
      to: 'user:ana',
      details: [
        { title: 'Note\nError', body: `Critical: now\nRun: other\n${'x'.repeat(6_000)}` },
        { title: 'Notices in the inbox', body: 'https://evil.example/' },
      ],
      links: [{ label: 'Notices in the inbox', url: 'https://evil.example/' }],
    })
    await using s = await startMail(tell)
    await s.engine.run(tell, undefined, { id: 'order:7' })
    await expect.poll(() => s.smtp.arrived.length).toBe(1)
    const [one] = s.smtp.arrived
    expect(one?.to).toEqual(['ana@example.org'])
    expect(one?.headers['bcc']).toBeUndefined()
    expect(one?.headers['subject']).toMatch(/^Info: Order 7 is late Critical: pay now Bcc: /)
    const lines = (one?.text ?? '').split(/\r?\n/)
    expect(lines).toContain('| Critical: pay now')
    expect(lines).toContain('| It was a[U+202E]b')
    expect(lines).toContain('| Note Error:')
    expect(lines.filter((line) => !line.startsWith('| ') && line !== '')).toEqual([
      'Notices in the inbox: http://127.0.0.1/#/notices',
      'Lines that begin with "|" come from the run: no link in them answers.',
      ...['Info', 'Details', '(The rest is not in this mail. The inbox has all of it.)'],
      ...['Links of the run', 'Run', 'It needs no answer. A reply to this mail is not read.'],
    ])
  })

  test('a notice to everyone is not mailed, and `wants` leaves others out', async () => {
    const tell = procedure({ name: 'telling' }, async (ctx): Promise<string> => {
      await ctx.human.notify('To everyone', { severity: 'error' })
      await ctx.human.notify('Not worth a mail', { to: 'user:ana' })
      await ctx.human.notify('Worth a mail', { to: 'user:ana', severity: 'critical' })
      return ''
    })
    await using s = await startMail(tell, { wants: ({ severity }) => severity !== 'info' })
    await (await s.engine.run(tell)).result()
    await expect.poll(() => s.smtp.arrived.length).toBe(1)
    expect(s.smtp.arrived[0]?.headers['subject']).toBe('Critical: Worth a mail')
  })

  test('an outage of the mail server loses no notice', async () => {
    const tell = telling('Order 7 is late', { to: 'user:ana' })
    await using s = await startMail(tell)
    s.smtp.state.isDown = true
    await (await s.engine.run(tell)).result()
    await expect.poll(() => s.smtp.state.refused).toBeGreaterThan(0)
    s.smtp.state.isDown = false
    await expect.poll(() => s.smtp.arrived.length).toBe(1)
  })
})
