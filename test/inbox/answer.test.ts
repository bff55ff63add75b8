import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chromiumPath, launchBrowser } from './support/browser.ts'
import { askAll, type Site, startSite, visit } from './support/site.ts'

// The tests of one file share a browser: each opens a profile of its own in it.
describe.skipIf(chromiumPath === undefined)('an ask is answered in the browser', () => {
  let browser: Browser
  let site: Site
  beforeAll(async () => {
    browser = await launchBrowser()
  })
  afterAll(() => browser?.close())

  test('an approval, by keyboard alone, with a changed value', async () => {
    await using open = await startSite()
    site = open
    await askAll(site)
    await using visited = await visit(browser, site, 'ana')
    const { page, complaints, foreign } = visited
    await page.getByRole('link', { name: /Refund 450 EUR/ }).waitFor()
    expect(page.url()).not.toContain('key=')

    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Refund 450 EUR for order A-1?' }).waitFor()
    await page.keyboard.press('e')
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type('400')
    await page.locator('.change ins', { hasText: '400' }).waitFor()
    // The next stop is "Undo the change", where letters are shortcuts again.
    await page.keyboard.press('Tab')
    await page.keyboard.press('a')
    await page.keyboard.press('Enter')
    // A high risk takes a second act.
    await page.getByRole('button', { name: 'Yes, approve with changes' }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByText('Answered by you').waitFor()

    expect(await site.engine.get('refund:A-1').result()).toBe('refunded 400 of 450')
    expect({ complaints, foreign }).toEqual({ complaints: [], foreign: [] })
  })
})
