import { procedure } from '@pawl/core'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findViolations, injectAxe } from './support/axe.ts'
import { chromiumPath, launchBrowser } from './support/browser.ts'
import { startSite, visit } from './support/site.ts'

const telling = procedure({ name: 'telling' }, async (ctx): Promise<void> => {
  await ctx.human.notify('The disk is 90 % full', { severity: 'warning', to: 'user:ana' })
  await ctx.human.notify('Backup is done', { details: [{ title: 'Files', body: { count: 3 } }] })
  await ctx.human.notify('Only for Bob', { to: 'user:bob' })
})

describe.skipIf(chromiumPath === undefined)('the page of notices in the browser', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchBrowser()
  })
  afterAll(() => browser?.close())

  test('lists what the user is told, counts what is unread, and keeps what was read', async () => {
    await using site = await startSite({ procedures: [telling] })
    await (await site.engine.run(telling, undefined, { id: 'telling:1' })).result()
    await using visited = await visit(browser, site, 'ana')
    const { page, complaints, foreign } = visited
    const tab = page.getByRole('link', { name: /^Notices/ })
    await tab.locator('.count', { hasText: '2' }).waitFor()
    await tab.click()
    await page.getByRole('heading', { level: 2, name: 'Backup is done' }).waitFor()
    const titles = () => page.locator('.notices h2').allTextContents()
    expect(await titles()).toEqual(['Backup is done', 'The disk is 90 % full'])
    expect(await page.locator('.notices li').nth(1).textContent()).toContain('Warning')
    await page.locator('.notices summary', { hasText: 'Files' }).click()
    await page.locator('.notices details', { hasText: 'count' }).waitFor()
    await page.getByRole('button', { name: 'Mark as read The disk is 90 % full' }).click()
    await tab.locator('.count', { hasText: '1' }).waitFor()
    await page.getByRole('button', { name: 'Unread', exact: true }).click()
    await expect.poll(titles).toEqual(['Backup is done'])
    await page.getByRole('button', { name: 'Mark all as read' }).click()
    await expect.poll(() => tab.locator('.count').count()).toBe(0)
    await page.reload()
    await tab.waitFor()
    const { items } = await site.engine.inbox.notices({ reader: 'user:ana', unread: true })
    expect(items.map(({ message }) => message)).toEqual(['Only for Bob'])
    await page.getByRole('link', { name: 'telling:1' }).first().click()
    await page.getByRole('heading', { name: 'telling:1' }).waitFor()
    expect({ complaints, foreign }).toEqual({ complaints: [], foreign: [] })
  })

  test('shows a notice that comes while it is open, and has nothing for axe to find', async () => {
    await using site = await startSite({ procedures: [telling] })
    await using visited = await visit(browser, site, 'ana', '#/notices', { bypassCSP: true })
    const { page } = visited
    await page.getByText('No notices').waitFor()
    await (await site.engine.run(telling, undefined, { id: 'telling:1' })).result()
    await page.getByRole('heading', { level: 2, name: 'Backup is done' }).waitFor()
    await injectAxe(page)
    expect(await findViolations(page)).toEqual([])
  })
})
