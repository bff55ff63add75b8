import { mkdtempSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { folder, mail } from '@pawl/channels'
import { procedure } from '@pawl/core'
import { expect, test } from 'vitest'
import { queue, start } from './support.ts'

const links = { publicUrl: 'http://127.0.0.1', keys: ['k'.repeat(32)] as const }
const once = { retry: false } as const

test('a question that is asked again is delivered again, and no reply to the first one answers it', async () => {
  const root = mkdtempSync(join(tmpdir(), 'pawl-asked-again-'))
  const place = join(root, 'greeting-reviewers', 'approvals')
  const sent: {
    readonly text: string
    readonly messageId: string
    readonly inReplyTo?: string | undefined
  }[] = []
  const byMail = mail({
    domain: 'example.org',
    people: (name) => (name === 'user:ana' ? [{ person: name, address: 'ana@example.org' }] : []),
    send: async (one) => void sent.push(one),
  })
  let look = (): void => {}
  const looked = new Promise<void>((resolve) => {
    look = resolve
  })
  const world = { amount: 1, isDown: true, looked }
  const send = procedure({ name: 'send' }, async (ctx) => {
    const to = [queue, 'user:ana'] as const
    const asked = ctx.human.approve('Send {n} EUR?', { params: { n: world.amount }, to })
    await ctx.step(
      'look',
      () => world.looked.then(() => world.isDown && Promise.reject(new Error('down'))),
      once,
    )
    return (await asked).approved
  })
  await using engine = await start([folder(root), byMail], { links, procedures: [send] })
  const run = await engine.run(send, undefined)
  const first = await engine.inbox.next({ run: run.id })
  await expect.poll(() => readdirSync(join(place, 'requests'))).toEqual([`${first.id}.json`])
  await expect.poll(() => sent.filter(({ inReplyTo }) => inReplyTo === undefined).length).toBe(1)
  look()
  await run.result().catch(() => {})
  Object.assign(world, { amount: 1_000_000, isDown: false })
  await engine.retry(run.id)
  const second = await engine.inbox.next({ run: run.id })
  expect(second.id).toBe(`${first.id}-2`)
  await expect.poll(() => readdirSync(join(place, 'requests'))).toEqual([`${second.id}.json`])
  expect(readFileSync(join(place, 'requests', `${second.id}.json`), 'utf8')).toContain('Send 1000000 EUR?')
  const asks = () => sent.filter(({ inReplyTo }) => inReplyTo === undefined)
  await expect.poll(() => asks().map(({ text }) => text.includes('1000000'))).toEqual([false, true])
  const reply = (id: string) => {
    writeFileSync(join(place, 'x'), JSON.stringify({ by: 'user:rita', resolution: { decision: 'approve' } }))
    renameSync(join(place, 'x'), join(place, 'replies', `${id}.json`))
  }
  reply(first.id)
  await expect.poll(() => readdirSync(join(place, 'refused')).length).toBe(2)
  expect((await engine.inbox.get(second.id))?.status).toBe('open')
  // A reply to the second mail is kept with the second delivery.
  const inReplyTo = asks()[1]?.messageId
  expect(await byMail.receive({ from: 'ana@example.org', text: 'Why so much?', inReplyTo })).toBe(true)
  const log = async () => JSON.stringify(await engine.log(`notify:${second.id}:mail`))
  await expect.poll(log).toContain('Why so much?')
  reply(second.id)
  expect(await run.result()).toBe(true)
})
