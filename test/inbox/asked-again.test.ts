import { procedure } from '@pawl/core'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chromiumPath, launchBrowser } from './support/browser.ts'
import { startSite, visit } from './support/site.ts'

describe.skipIf(chromiumPath === undefined)('the page of an ask in the browser', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchBrowser()
  })
  afterAll(() => browser?.close())

  test('says that the run asks again, and leads to the new question', async () => {
    const world = { amount: 1, isDown: true }
    let look = (): void => {}
    const looked = new Promise<void>((resolve) => {
      look = resolve
    })
    const send = procedure({ name: 'send' }, async (ctx) => {
      const asked = ctx.human.approve('Send {n} EUR?', { params: { n: world.amount } })
      await ctx.step('look', () => looked.then(() => world.isDown && Promise.reject(new Error('down'))), {
        retry: false,
      })
      return (await asked).approved
    })
    await using site = await startSite({ procedures: [send] })
    const run = await site.engine.run(send)
    const first = await site.engine.inbox.next({ run: run.id })
    await using visited = await visit(browser, site, 'ana', `#/asks/${first.id}`)
    const { page } = visited
    await page.getByRole('heading', { name: 'Send 1 EUR?' }).waitFor()
    look()
    await run.result().catch(() => {})
    Object.assign(world, { amount: 1_000_000, isDown: false })
    await site.engine.retry(run.id)
    await site.engine.inbox.next({ run: run.id })
    await page.reload()
    await page.getByText('The run asks again').waitFor()
    expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0)
    await page.getByRole('link', { name: 'Open the new question' }).click()
    await page.getByRole('heading', { name: 'Send 1000000 EUR?' }).waitFor()
    await page.getByRole('button', { name: 'Approve' }).click()
    expect(await run.result()).toBe(true)
  })

  test('sends the digest of what it shows, and says that a question has changed', async () => {
    const ask = procedure(
      { name: 'ask' },
      async (ctx) => (await ctx.human.approve('Go?', { effect: { approve: 'It goes' } })).approved,
    )
    await using site = await startSite({ procedures: [ask] })
    const run = await site.engine.run(ask)
    const { id, digest } = await site.engine.inbox.next({ run: run.id })
    await using visited = await visit(browser, site, 'ana', `#/asks/${id}`)
    const { page } = visited
    await page.locator('.effects', { hasText: 'It goes' }).waitFor()
    let isOther = true
    await page.route('**/answer?*', (route) => {
      const url = route.request().url()
      expect(url).toContain(`digest=${digest}`)
      return route.continue(isOther ? { url: url.replace(digest, '0'.repeat(32)) } : {})
    })
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByText('This question has changed since it was shown').first().waitFor()
    expect((await site.engine.inbox.get(id))?.status).toBe('open')
    isOther = false
    await page.getByRole('button', { name: 'Approve' }).click()
    expect(await run.result()).toBe(true)
  })
})
