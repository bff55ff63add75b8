import { channels } from '@pawl/channels'
import { createEngine, type NotifyOptions, procedure } from '@pawl/core'
import { type SlackOptions, slack } from '@pawl/slack'
import { memory } from '@pawl/testing'
import { expect, test } from 'vitest'
import { type Message, startSlack } from './double.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }

async function scene(options: Partial<SlackOptions> = {}) {
  const double = await startSlack()
  const { api, signingSecret } = double
  const channel = slack({
    ...{ token: 'xoxb-1', signingSecret, api, channelOf: () => 'C1', person: () => ({ as: 'user:ana' }) },
    ...options,
  })
  const tell = procedure({ name: 'tell' }, async (ctx): Promise<void> => {
    for (const [message, more] of told) await ctx.human.notify('{message}', { data: { message }, ...more })
  })
  let told: readonly (readonly [string, NotifyOptions])[] = []
  const engine = await createEngine({
    ...{ store: memory(), procedures: [tell], logger: silent },
    plugins: [channels([channel], { links: { publicUrl: 'http://127.0.0.1', keys: ['k'.repeat(32)] } })],
  })
  return {
    ...{ double, engine, channel },
    async tell(...given: typeof told): Promise<Message> {
      told = given
      await (await engine.run(tell, undefined, { id: 'order:7' })).result()
      await expect.poll(() => double.messages.length).toBe(1)
      return double.messages[0] as Message
    },
    async [Symbol.asyncDispose]() {
      await engine.stop()
      await double[Symbol.asyncDispose]()
    },
  }
}

/** The texts of a message, one line for each paragraph, quote or frame. */
function linesOf({ blocks }: Message): readonly string[] {
  return blocks
    .filter(({ type }) => type === 'rich_text')
    .flatMap(({ elements }) => elements as readonly Element[])
    .map(({ type, elements }) => `${marks[type] ?? ''}${elements.map(({ text }) => text).join('')}`)
}

const marks: Readonly<Record<string, string>> = {
  rich_text_preformatted: 'frame ',
  rich_text_quote: 'quote ',
}

interface Element {
  readonly type: string
  readonly elements: readonly { readonly text: string }[]
}

test('a notice is posted with its level, its run and a link to the inbox, and without buttons', async () => {
  await using s = await scene()
  const message = await s.tell([
    'Order 7 is late',
    { severity: 'warning', to: 'group:ops', details: [{ title: 'Since', body: 'noon' }] },
  ])
  expect(message.text).toBe('Warning: Order 7 is late')
  expect(linesOf(message)).toEqual([
    ...['Warning\n', 'quote Order 7 is late', 'Details\n', 'quote Since: noon', 'Run\n', 'quote order:7'],
  ])
  expect(message.blocks.map(({ type }) => type)).toEqual(['rich_text', 'context'])
  expect(JSON.stringify(message.blocks.at(-1))).toContain('<http://127.0.0.1/#/notices|Open in the inbox>')
})

test('no text from outside is read as markup, as another level or as another line of a notice', async () => {
  await using s = await scene()
  const message = await s.tell([
    '<!channel> *now*\nCritical: a\u202eb',
    {
      details: [
        { title: 'Note\nError', body: 'Run: other\nCritical: now' },
        { title: 'Critical', body: 'now' },
      ],
      links: [{ label: 'Open in the inbox', url: 'https://evil.example/' }],
    },
  ])
  expect(message.text).toBe('Info: &lt;!channel&gt; *now* Critical: a[U+202E]b')
  expect(linesOf(message)).toEqual([
    ...['Info\n', 'frame <!channel> *now*\nCritical: a[U+202E]b'],
    ...['Details\n', 'quote Note Error', 'frame Run: other\nCritical: now', 'quote Critical: now'],
    ...['Links of the run\n', 'quote Open in the inbox: https://evil.example/'],
    ...['Run\n', 'quote order:7'],
  ])
  expect(JSON.stringify(message.blocks)).not.toContain('\u202e')
})

test('a notice that is longer than Slack takes says so, and leads to the inbox', async () => {
  await using s = await scene()
  const message = await s.tell(['Late', { details: [{ title: 'Trace', body: 'x'.repeat(3_000) }] }])
  expect(linesOf(message)).toEqual([
    ...['Info\n', 'quote Late', 'Details\n', 'quote Trace'],
    'Slack cannot show all of this notice. Read it in the inbox.\n',
  ])
})

test('a notice goes to the channel of Slack that `channelOf` names, or to none', async () => {
  const channelOf: SlackOptions['channelOf'] = ({ kind, severity }) =>
    kind === 'notice' && severity === 'info' ? undefined : 'C2'
  await using s = await scene({ channelOf })
  const message = await s.tell(['Dull', {}], ['Late', { severity: 'error' }])
  expect([message.channel, message.text]).toEqual(['C2', 'Error: Late'])
})

test('an outage of Slack loses no notice', async () => {
  await using s = await scene()
  s.double.state.isDown = true
  const told = s.tell(['Late', {}])
  await expect.poll(() => s.double.state.calls).toBeGreaterThan(0)
  s.double.state.isDown = false
  expect((await told).text).toBe('Info: Late')
})
