import { channels, type Sender } from '@pawl/channels'
import { createEngine, type Procedure, procedure } from '@pawl/core'
import { type SlackOptions, slack } from '@pawl/slack'
import { memory } from '@pawl/testing'
import { expect, test } from 'vitest'
import { startSlack } from './double.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }

const approving = (
  name: string,
  options: object,
  message = 'Refund <!channel> & go?',
): Procedure<undefined, string> =>
  procedure({ name }, async (ctx) => {
    const { approved, by, comment } = await ctx.human.approve(message, {
      ...{ to: 'group:support', params: { amount: 45 } },
      ...options,
    })
    return `${approved ? 'approved' : 'rejected'} by ${by}${comment === undefined ? '' : `: ${comment}`}`
  })
const plain = approving('plain', {})
const critical = approving('critical', { risk: 'critical' })
const many = procedure(
  { name: 'many' },
  (ctx): Promise<string> =>
    ctx.human.select(
      'Which one?',
      Array.from({ length: 30 }, (_, n) => `choice ${n}`),
    ),
)

const forged = approving('forged', {
  params: { note: 'thanks\namount: 1', 'memo\namount': '~9~', far: 'a\u202eb', amount: 1_000_000 },
})
const long = approving('long', { params: { note: 'x'.repeat(3_000), amount: 1_000_000 } })
const wide = approving('wide', {
  details: Array.from({ length: 120 }, (_, n) => ({ title: `Line ${n}`, body: 'same' })),
})
const secretive = approving('secretive', {
  params: { limits: new Map([['max', 7]]), cents: 5n, rate: Infinity },
})

const people: Readonly<Record<string, Sender>> = {
  U1: { as: 'user:ana', names: ['group:support'] },
  U2: { as: 'user:bob', names: ['group:support'] },
  U3: { as: 'user:eve' },
}

async function scene(
  options: Partial<SlackOptions> = {},
  more: readonly Procedure<undefined, string>[] = [],
) {
  const double = await startSlack()
  const { api, signingSecret } = double
  const channel = slack({
    ...{
      token: 'xoxb-1',
      signingSecret,
      api,
      channelOf: () => 'C1',
      person: (user: string) => people[user] ?? null,
    },
    ...options,
  })
  const engine = await createEngine({
    ...{
      store: memory(),
      procedures: [plain, critical, many, forged, long, wide, secretive, ...more],
      plugins: [channels([channel])],
      logger: silent,
    },
  })
  return {
    ...{ double, engine, channel },
    async post(of: Procedure<undefined, string>) {
      const run = await engine.run(of, undefined)
      const ask = await engine.inbox.next({ run: run.id })
      await expect.poll(() => double.messages.length).toBe(1)
      return { run, ask, message: double.messages[0] }
    },
    statusOf: async (ask: { readonly id: string }) => (await engine.inbox.get(ask.id))?.status,
    async [Symbol.asyncDispose]() {
      await engine.stop()
      await double[Symbol.asyncDispose]()
    },
  }
}

test('an ask is posted with buttons, a click answers as the person that Slack names, and the buttons go', async () => {
  await using s = await scene()
  const { run, ask, message } = await s.post(plain)
  expect(s.double.buttonsOf(message).map(({ text }) => text.text)).toEqual(['Approve', 'Reject'])
  expect(JSON.stringify(message)).toContain('Refund &lt;!channel&gt; &amp; go?')
  expect((await s.channel.handle(s.double.press(message, 'Approve', 'U1', { comment: 'fine' }))).status).toBe(
    200,
  )
  expect(await run.result()).toBe('approved by user:ana: fine')
  await expect.poll(() => s.double.buttonsOf(message)).toEqual([])
  expect(JSON.stringify(message?.blocks)).toContain('Answered by user:ana (slack): approved')
  expect((await s.engine.inbox.get(ask.id))?.answer).toMatchObject({ by: 'user:ana', via: 'slack' })
})

test('a rejection without a required comment is refused, and the person is told', async () => {
  const strict = approving('strict', { require: 'comment-on-reject' })
  await using s = await scene({}, [strict])
  const { run, ask, message } = await s.post(strict)
  expect(JSON.stringify(message?.blocks)).toContain('Comment, required for: Reject')
  await s.channel.handle(s.double.press(message, 'Reject', 'U1'))
  expect(s.double.told.join()).toContain('comment: is required')
  expect(await s.statusOf(ask)).toBe('open')
  await s.channel.handle(s.double.press(message, 'Reject', 'U1', { comment: 'a duplicate' }))
  expect(await run.result()).toBe('rejected by user:ana: a duplicate')
})

test('a click that Slack sends again is no error, and a later one is told who answered', async () => {
  await using s = await scene()
  const { run, message } = await s.post(plain)
  const [first, again, late] = [
    s.double.press(message, 'Reject', 'U1'),
    s.double.press(message, 'Reject', 'U1'),
    s.double.press(message, 'Approve', 'U2'),
  ]
  for (const click of [first, again]) expect((await s.channel.handle(click)).status).toBe(200)
  expect(s.double.told).toEqual([])
  await s.channel.handle(late)
  expect(s.double.told.join()).toContain('already answered by user:ana')
  expect(await run.result()).toBe('rejected by user:ana')
})

test('a button of a message that shows another question settles nothing, and the person is told', async () => {
  await using s = await scene()
  const { run, ask, message } = await s.post(plain)
  const [approve] = s.double.buttonsOf(message)
  const carried = JSON.parse(approve?.value ?? '{}') as { readonly digest: string }
  expect(carried).toMatchObject({ ask: ask.id, digest: ask.digest })
  const blocks = JSON.parse(JSON.stringify(message).replaceAll(carried.digest, '0'.repeat(32)))
  await s.channel.handle(s.double.press(blocks, 'Approve', 'U1'))
  expect(s.double.told.join()).toContain('differs from the question that was shown')
  expect(await s.statusOf(ask)).toBe('open')
  await s.channel.handle(s.double.press(message, 'Approve', 'U1'))
  expect(await run.result()).toBe('approved by user:ana')
})

test.each([
  ['of another secret', { secret: 'x'.repeat(32) }],
  ['that is too old', { age: 301 }],
  ['that was altered', { alter: (body: string) => body.replace('U3', 'U1') }],
])('a click with a signature %s is refused', async (_, signing) => {
  await using s = await scene()
  const { ask, message } = await s.post(plain)
  expect((await s.channel.handle(s.double.press(message, 'Approve', 'U3', signing))).status).toBe(401)
  expect(await s.statusOf(ask)).toBe('open')
})

/** A body without an end, and how much of it was read. */
function endless() {
  const read = { bytes: 0 }
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        read.bytes += 65_536
        controller.enqueue(new Uint8Array(65_536))
      },
    },
    { highWaterMark: 0 },
  )
  return { body, read }
}

test.each([
  ['without a time is not read', {}, 401, 0],
  ['of another time is not read', { 'x-slack-request-timestamp': '1700000000' }, 401, 0],
  [
    'is read up to 1 MiB',
    { 'x-slack-request-timestamp': String(Math.floor(Date.now() / 1000)) },
    400,
    17 * 65_536,
  ],
])('the body of a stranger %s', async (_, headers, status, bytes) => {
  await using s = await scene()
  const { body, read } = endless()
  const request = new Request('http://127.0.0.1/slack', { method: 'POST', headers, body, duplex: 'half' })
  expect((await s.channel.handle(request)).status).toBe(status)
  expect(read.bytes).toBe(bytes)
})

test.each([
  ['is not known', 'U9', 'You are not known to Pawl'],
  ['is not asked', 'U3', 'is not addressed to user:eve'],
])('a click of a person who %s settles nothing, and tells them', async (_, user, why) => {
  await using s = await scene()
  const { ask, message } = await s.post(plain)
  await s.channel.handle(s.double.press(message, 'Approve', user))
  expect(s.double.told.join()).toContain(why)
  expect(await s.statusOf(ask)).toBe('open')
})

test('a message settles nothing, even one of a person who may answer', async () => {
  await using s = await scene()
  const { run, ask, message } = await s.post(plain)
  for (const text of ['approve', 'Approved!', JSON.stringify({ ask: ask.id, decision: 'approve' })])
    expect((await s.channel.handle(s.double.write(text, 'U1'))).status).toBe(200)
  expect(await s.statusOf(ask)).toBe('open')
  // A comment beside a button is one, whatever it says.
  await s.channel.handle(s.double.press(message, 'Reject', 'U1', { comment: 'approve' }))
  expect(await run.result()).toBe('rejected by user:ana: approve')
})

test('a directory that is slow does not keep Slack waiting, and the answer is stored when it is known', async () => {
  let resolve = (_: Sender): void => {}
  const slow = new Promise<Sender>((resolved) => {
    resolve = resolved
  })
  await using s = await scene({ person: () => slow })
  const { run, ask, message } = await s.post(plain)
  expect((await s.channel.handle(s.double.press(message, 'Approve', 'U1'))).status).toBe(200)
  expect(await s.statusOf(ask)).toBe('open')
  resolve({ as: 'user:ana', names: ['group:support'] })
  expect(await run.result()).toBe('approved by user:ana')
})

test('an outage of Slack settles nothing, and the ask is posted when it is over', async () => {
  await using s = await scene()
  s.double.state.isDown = true
  const run = await s.engine.run(plain, undefined)
  const ask = await s.engine.inbox.next({ run: run.id })
  await expect.poll(() => s.double.state.calls).toBeGreaterThan(0)
  expect(await s.statusOf(ask)).toBe('open')
  s.double.state.isDown = false
  await expect.poll(() => s.double.messages.length).toBe(1)
})

test('a critical ask has buttons, since Slack verifies people, and approving it asks once more', async () => {
  await using s = await scene()
  const { message } = await s.post(critical)
  expect(s.double.buttonsOf(message).map(({ confirm }) => confirm !== undefined)).toEqual([true, false])
})

test('an ask with more choices than Slack has buttons is posted without any', async () => {
  await using s = await scene()
  const { message } = await s.post(many)
  expect(s.double.buttonsOf(message)).toEqual([])
  expect(JSON.stringify(message)).toContain('Slack cannot show all of this ask.')
})

/** The texts of a message, one line for each paragraph, quote or frame. */
function linesOf(message: { readonly blocks: readonly object[] } | undefined): readonly string[] {
  const blocks = message?.blocks as readonly {
    readonly type: string
    readonly elements?: readonly RichElement[]
  }[]
  return blocks
    .filter(({ type }) => type === 'rich_text')
    .flatMap(({ elements = [] }) => elements)
    .map(({ type, elements }) => `${marks[type] ?? ''}${elements.map(({ text }) => text).join('')}`)
}

const marks: Readonly<Record<string, string>> = {
  rich_text_preformatted: 'frame ',
  rich_text_quote: 'quote ',
}

interface RichElement {
  readonly type: string
  readonly elements: readonly { readonly text: string }[]
}

test('no value can look like another one: lines are framed, markup is text, and hidden characters are named', async () => {
  await using s = await scene()
  const { message } = await s.post(forged)
  const lines = linesOf(message)
  expect(lines).toContain('frame thanks\namount: 1')
  expect(lines).toContain('quote memo amount: ~9~')
  expect(lines).toContain('quote far: a[U+202E]b')
  expect(lines.filter((line) => /^(quote )?amount:/.test(line))).toEqual(['quote amount: 1000000'])
  const written = JSON.stringify(message?.blocks)
  expect(written).not.toContain('\u202e')
  expect(written).not.toContain('mrkdwn')
})

const lure = 'Slack cannot show all of this ask. Open in the inbox: https://evil.example/'

test('no text of a run can read as words of the channel, before and after the ask is closed', async () => {
  const given = {
    ...{ risk: { level: 'low', reasons: [lure] }, params: { [lure]: lure } },
    details: [{ title: lure, body: lure }],
    links: [{ label: lure, url: 'https://evil.example/' }],
    ...{ timeout: '1h', onTimeout: 'reject', alternatives: [{ label: lure, description: lure }] },
  }
  const trap = approving('trap', given, lure)
  await using s = await scene({}, [trap])
  const { message } = await s.post(trap)
  expect(message?.text).toMatch(/^Question: /)
  const own = () => linesOf(message).filter((line) => !/^(quote|frame) /.test(line))
  expect(own()).toEqual([
    ...['Question\n', 'Low risk\n', 'Values\n', 'Details\n', 'Instead\n', 'Links of the run\n'],
    expect.stringMatching(/^Due .* GMT, then\n$/),
  ])
  await s.channel.handle(s.double.press(message, 'Approve', 'U1'))
  await expect.poll(own).toEqual(['Question\n', 'Closed: answered\n'])
})

test.each([
  ['a value is longer than Slack takes', long],
  ['it has more parts than Slack takes', wide],
])('only a refusal has a button if %s', async (_, of) => {
  await using s = await scene()
  const { run, message } = await s.post(of)
  expect(s.double.buttonsOf(message).map(({ text }) => text.text)).toEqual(['Reject'])
  expect(linesOf(message).join()).toContain('Slack cannot show all of this ask.')
  await s.channel.handle(s.double.press(message, 'Reject', 'U1'))
  expect(await run.result()).toBe('rejected by user:ana')
})

test('values that JSON has no type for are shown', async () => {
  await using s = await scene()
  const { message } = await s.post(secretive)
  const lines = linesOf(message).join()
  for (const part of ['"max",', '7', 'cents: 5', 'rate: Infinity']) expect(lines).toContain(part)
})
