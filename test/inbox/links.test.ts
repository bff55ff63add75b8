import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createEngine } from '@pawl/core'
import { createServer } from '@pawl/server'
import { memory } from '@pawl/testing'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { refund } from './support/asks.ts'
import { chromiumPath, launchBrowser } from './support/browser.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** A server with one open ask, and a link to it. */
async function startWithLink() {
  const engine = await createEngine({ store: memory(), procedures: [refund] })
  // The port is known only after listening, so a first server reserves it.
  const probe = createServer({ client: engine })
  const { port, origin } = new URL((await probe.listen({ port: 0 })).url)
  await probe.stop()
  const server = createServer({
    client: engine,
    auth: (request) =>
      request.headers.get('authorization') === 'Bearer root'
        ? { actor: 'user:root', names: [], role: 'admin' }
        : null,
    links: { publicUrl: origin, keys: ['k'.repeat(32)] },
  })
  await server.listen({ port: Number(port) })
  const run = await engine.run(refund, { orderId: 'A-1', amount: 450 })
  const { id } = await engine.inbox.next({ run: run.id })
  const made = await fetch(`${origin}/v1/asks/${encodeURIComponent(id)}/links`, {
    method: 'POST',
    headers: { authorization: 'Bearer root', 'content-type': 'application/json' },
    body: JSON.stringify({ as: 'user:bob' }),
  })
  const { url } = (await made.json()) as { readonly url: string }
  return {
    ...{ engine, id, run, url },
    async [Symbol.asyncDispose]() {
      await server.stop()
      await engine.stop()
    },
  }
}

describe.skipIf(chromiumPath === undefined)('a link in the browser', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchBrowser()
  })
  afterAll(() => browser?.close())

  test.each([
    { width: 1280, height: 800 },
    { width: 390, height: 844 },
  ])('is answered by a form without script, after a confirmation, at $width x $height', async (viewport) => {
    await using site = await startWithLink()
    const context = await browser.newContext({ viewport, javaScriptEnabled: false })
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('console', (message) => complaints.push(message.text()))
    const opened = await page.goto(site.url)
    expect(opened?.status()).toBe(200)
    if (process.env['PICTURES'])
      await page.screenshot({ path: `${process.env['PICTURES']}/link-${viewport.width}.png`, fullPage: true })
    await page.getByLabel('Comment').fill('the parcel was empty')
    await page.getByRole('button', { name: 'Approve' }).click()
    expect((await site.engine.inbox.get(site.id))?.status).toBe('open')
    if (process.env['PICTURES'])
      await page.screenshot({ path: `${process.env['PICTURES']}/link-confirm-${viewport.width}.png` })
    await page.getByRole('button', { name: 'Confirm: Approve' }).click()
    await page.getByRole('heading', { name: 'Your answer is stored' }).waitFor()
    expect((await site.engine.inbox.get(site.id))?.answer).toMatchObject({
      ...{ by: 'user:bob', approved: true, comment: 'the parcel was empty' },
    })
    await page.goto(site.url)
    await page.getByRole('heading', { name: 'This ask is closed' }).waitFor()
    expect(complaints).toEqual([])
    await context.close()
  })

  test.each(['light', 'dark'] as const)('has no violation that axe finds, %s', async (colorScheme) => {
    await using site = await startWithLink()
    // Only so that axe can be injected.
    const context = await browser.newContext({ colorScheme, bypassCSP: true })
    const page = await context.newPage()
    await page.goto(site.url)
    await page.evaluate(axe)
    const found = await page.evaluate(
      'axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations.map((one) => one.id + ": " + one.nodes.map((node) => node.html).join("; ")))',
    )
    expect(found).toEqual([])
    await context.close()
  })
})
