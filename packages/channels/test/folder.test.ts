import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { folder } from '@pawl/channels'
import { procedure } from '@pawl/core'
import { memory } from '@pawl/testing'
import { expect, test } from 'vitest'
import { askOnce, greet, queue, start } from './support.ts'

/** A folder of queues, as the host of a queue sees it. */
function makeQueues() {
  const root = mkdtempSync(join(tmpdir(), 'pawl-queues-'))
  const pathOf = (...parts: string[]) => join(root, 'greeting-reviewers', 'approvals', ...parts)
  return {
    root,
    pathOf,
    list: (part: string) => (existsSync(pathOf(part)) ? readdirSync(pathOf(part)) : []),
    read: (part: string, ask: string) => JSON.parse(readFileSync(pathOf(part, `${ask}.json`), 'utf8')),
    reply(ask: string, reply: unknown) {
      const unfinished = pathOf(`unfinished-${ask}`)
      writeFileSync(unfinished, typeof reply === 'string' ? reply : JSON.stringify(reply))
      renameSync(unfinished, pathOf('replies', `${ask}.json`))
    },
    [Symbol.dispose]: () => rmSync(root, { recursive: true }),
  }
}

test('a request has scope, queue and sections, and a reply resumes the run', async () => {
  using queues = makeQueues()
  await using engine = await start([folder(queues.root)])
  const { run, ask } = await askOnce(engine)
  await expect.poll(() => queues.list('requests')).toEqual([`${ask.id}.json`])
  expect(queues.read('requests', ask.id)).toMatchObject({
    ...{ ask: ask.id, run: run.id, procedure: 'greet', kind: 'review', message: 'Approve this greeting?' },
    ...{ scope: 'greeting-reviewers', queue: 'approvals', timeout_s: 3600, artifact: 'Hello, Ada' },
    sections: [{ title: 'Mood', body: 'warm' }],
    decisions: ['approve', 'reject'],
  })
  const { digest } = queues.read('requests', ask.id) as { readonly digest: string }
  expect(digest).toBe(ask.digest)
  queues.reply(ask.id, { by: 'user:rita', resolution: { decision: 'approve', comment: 'nice' }, digest })
  expect(await run.result()).toBe('approve by user:rita')
  await expect.poll(() => [queues.list('requests'), queues.list('replies')]).toEqual([[], []])
  expect(queues.read('closed', ask.id)).toMatchObject({
    status: 'answered',
    answer: { by: 'user:rita', via: 'folder', choice: 'approve', comment: 'nice' },
  })
})

test.each([
  ['free text', 'approve', /not JSON/],
  ['a decision without a person', { resolution: { decision: 'approve' } }, /`by` must name/],
  ['an agent', { by: 'agent:writer', resolution: { decision: 'approve' } }, /`by` must name/],
  ['a text as resolution', { by: 'user:rita', resolution: 'approve' }, /`resolution` must be/],
  [
    'the digest of another question',
    { by: 'user:rita', resolution: { decision: 'approve' }, digest: '0'.repeat(32) },
    /differs from the question that was shown/,
  ],
  ['an unknown decision', { by: 'user:rita', resolution: { decision: 'publish' } }, /invalid/],
])('a reply that is refused settles nothing, and says why: %s', async (_, reply, why) => {
  using queues = makeQueues()
  await using engine = await start([folder(queues.root)])
  const { run, ask } = await askOnce(engine)
  await expect.poll(() => queues.list('requests')).toHaveLength(1)
  queues.reply(ask.id, reply)
  // It is old, so it is complete.
  utimesSync(queues.pathOf('replies', `${ask.id}.json`), 1, 1)
  await expect.poll(() => queues.list('refused')).toHaveLength(2)
  const [text = ''] = queues.list('refused').filter((file) => file.endsWith('.txt'))
  expect(readFileSync(queues.pathOf('refused', text), 'utf8')).toMatch(why)
  expect((await engine.inbox.get(ask.id))?.status).toBe('open')
  queues.reply(ask.id, { by: 'user:rita', resolution: { choice: 'reject' } })
  expect(await run.result()).toBe('reject by user:rita')
})

test('a reply without a required comment is refused, and the request says which rule holds', async () => {
  const strict = procedure({ name: 'strict' }, async (ctx): Promise<string> => {
    const { choice, comment } = await ctx.human.review('Approve?', 'text', { to: queue, require: 'comment' })
    return `${choice}: ${comment}`
  })
  using queues = makeQueues()
  await using engine = await start([folder(queues.root)], { procedures: [strict] })
  const { run, ask } = await askOnce(engine, strict)
  await expect.poll(() => queues.list('requests')).toEqual([`${ask.id}.json`])
  expect(queues.read('requests', ask.id)).toMatchObject({ require: 'comment' })
  queues.reply(ask.id, { by: 'user:rita', resolution: { decision: 'approve' } })
  await expect.poll(() => queues.list('refused')).toHaveLength(2)
  const [text = ''] = queues.list('refused').filter((file) => file.endsWith('.txt'))
  expect(readFileSync(queues.pathOf('refused', text), 'utf8')).toContain('comment: is required')
  queues.reply(ask.id, { by: 'user:rita', resolution: { decision: 'approve', comment: 'short' } })
  expect(await run.result()).toBe('approve: short')
})

test('a reply in the folder of another queue is refused', async () => {
  using queues = makeQueues()
  await using engine = await start([folder(queues.root)])
  const { ask } = await askOnce(engine)
  await expect.poll(() => queues.list('requests')).toHaveLength(1)
  const other = join(queues.root, 'others', 'approvals')
  mkdirSync(join(other, 'replies'), { recursive: true })
  writeFileSync(join(other, 'x'), JSON.stringify({ by: 'user:rita', resolution: { decision: 'approve' } }))
  renameSync(join(other, 'x'), join(other, 'replies', `${ask.id}.json`))
  await expect
    .poll(() => (existsSync(join(other, 'refused')) ? readdirSync(join(other, 'refused')) : []))
    .toHaveLength(2)
  expect((await engine.inbox.get(ask.id))?.status).toBe('open')
})

test.skipIf(process.platform === 'win32').each([
  ['a pipe', (path: string) => execFileSync('mkfifo', [path]), /not an ordinary file/],
  ['a link', (path: string) => symlinkSync('/etc/passwd', path), /not an ordinary file/],
  ['a folder', (path: string) => mkdirSync(path), /not an ordinary file/],
  [
    'a file of 1 GiB',
    (path: string) => {
      writeFileSync(path, '')
      truncateSync(path, 2 ** 30)
    },
    /may have 4194304/,
  ],
])('%s among the replies holds back no other reply, and is refused once', async (_, make, why) => {
  using queues = makeQueues()
  await using engine = await start([folder(queues.root)])
  const { run, ask } = await askOnce(engine)
  await expect.poll(() => queues.list('requests')).toHaveLength(1)
  make(queues.pathOf('replies', '!first.json'))
  queues.reply(ask.id, { by: 'user:rita', resolution: { decision: 'approve' } })
  expect(await run.result()).toBe('approve by user:rita')
  await expect.poll(() => queues.list('replies')).toEqual([])
  await expect.poll(() => queues.list('refused')).toHaveLength(2)
  const [text = ''] = queues.list('refused').filter((file) => file.endsWith('.txt'))
  expect(readFileSync(queues.pathOf('refused', text), 'utf8')).toMatch(why)
})

test('a half-written reply waits for its rest', async () => {
  using queues = makeQueues()
  await using engine = await start([folder(queues.root)])
  const { run, ask } = await askOnce(engine)
  const later = await askOnce(engine)
  await expect.poll(() => queues.list('requests')).toHaveLength(2)
  const whole = JSON.stringify({ by: 'user:rita', resolution: { decision: 'approve' } })
  writeFileSync(queues.pathOf('replies', `${ask.id}.json`), whole.slice(0, 20))
  // Replies are read together: with the answer to this one, the half-written one has been read.
  queues.reply(later.ask.id, { by: 'user:rita', resolution: { decision: 'approve' } })
  await later.run.result()
  writeFileSync(queues.pathOf('replies', `${ask.id}.json`), whole)
  expect(await run.result()).toBe('approve by user:rita')
  expect(queues.list('refused')).toEqual([])
})

test('a reply that waits while no engine works is read when one starts', async () => {
  using queues = makeQueues()
  const store = memory()
  const first = await start([folder(queues.root)], { store })
  const { run, ask } = await askOnce(first)
  await expect.poll(() => queues.list('requests')).toHaveLength(1)
  await first.stop()
  queues.reply(ask.id, { by: 'user:rita', resolution: { decision: 'approve' } })
  await using second = await start([folder(queues.root)], { store })
  expect(await second.get(greet, run.id).result()).toBe('approve by user:rita')
})

test.each(['queue:../..', 'queue:a/../../../x', 'queue:./.', 'queue:a/b\\c'] as const)(
  'the queue %s stays in the folder, and its replies are read',
  async (to) => {
    using queues = makeQueues()
    const one = procedure({ name: 'one' }, async (ctx): Promise<string> => {
      const { approved } = await ctx.human.approve('Go?', { to })
      return String(approved)
    })
    await using engine = await start([folder(queues.root)], { procedures: [one] })
    const { run, ask } = await askOnce(engine, one)
    const files = () => readdirSync(queues.root, { recursive: true }).map(String)
    const request = () => files().find((file) => file.endsWith(join('requests', `${ask.id}.json`)))
    await expect.poll(request).toBeDefined()
    const path = join(queues.root, String(request()))
    writeFileSync(`${path}.x`, JSON.stringify({ by: 'user:rita', resolution: { decision: 'approve' } }))
    renameSync(`${path}.x`, path.replace('requests', 'replies'))
    expect(await run.result()).toBe('true')
  },
)

test('asks to people alone are no business of the folder', async () => {
  using queues = makeQueues()
  const one = procedure({ name: 'one' }, async (ctx): Promise<string> => {
    await ctx.human.approve('Go?', { to: 'user:ana' })
    return ''
  })
  await using engine = await start([folder(queues.root)], { procedures: [greet, one] })
  await askOnce(engine, one)
  const { ask } = await askOnce(engine)
  await expect.poll(() => queues.list('requests')).toEqual([`${ask.id}.json`])
  expect((await engine.list({ procedure: 'pawl.notify.folder' })).items).toHaveLength(1)
  expect(ask.to).toContain(queue)
})
