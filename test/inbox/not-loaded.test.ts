import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chromiumPath, launchBrowser } from './support/browser.ts'
import { askAll, startSite, visit } from './support/site.ts'

describe.skipIf(chromiumPath === undefined)('a screen that cannot be loaded', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchBrowser()
  })
  afterAll(() => browser?.close())

  test('is not offered to a role that may not see it, and says why with a way on', async () => {
    await using site = await startSite()
    await askAll(site)
    await using visited = await visit(browser, site, 'kim')
    const { page } = visited
    await page.locator('.ask-row').first().waitFor()
    expect(await page.getByRole('navigation').getByRole('link').allTextContents()).toEqual([
      expect.stringMatching(/^Inbox/),
      'Notices',
    ])
    for (const at of ['#/runs', '#/workers']) {
      await page.evaluate(`location.hash = ${JSON.stringify(at)}`)
      await page.getByText('You may not see this page.').waitFor()
      await page.getByRole('link', { name: 'Go to the inbox' }).click()
      await page.locator('.ask-row').first().waitFor()
    }
    for (const at of ['#/runs/ship%3A7', '#/asks/none']) {
      await page.evaluate(`location.hash = ${JSON.stringify(at)}`)
      await page.getByText('This page does not exist, or you may not see it.').waitFor()
      await page.getByRole('link', { name: 'Go to the inbox' }).click()
      await page.locator('.ask-row').first().waitFor()
    }
  })

  test.each([
    ['an ask', '#/asks/refund%3AA-1%2F1', 'Refund 450 EUR'],
    ['the workers', '#/workers', 'Workers'],
    ['a run', '#/runs/ship%3A7', 'ship:7'],
  ])('says that the server does not answer, and is loaded once it does: %s', async (_what, at, title) => {
    await using site = await startSite()
    await askAll(site)
    await using visited = await visit(browser, site, 'ana')
    const { page } = visited
    await page.locator('.ask-row').first().waitFor()
    await page.context().setOffline(true)
    await page.evaluate(`location.hash = ${JSON.stringify(at)}`)
    await page.getByText('It is loaded once the server answers again.').waitFor()
    expect(await page.locator('.loading').count()).toBe(0)
    await page.context().setOffline(false)
    await page.getByRole('heading', { level: 1, name: title }).waitFor()
    await page.getByText('It is loaded once the server answers again.').waitFor({ state: 'hidden' })
  })

  test('says what the server said, and is loaded at a press', async () => {
    await using site = await startSite()
    await askAll(site)
    await using visited = await visit(browser, site, 'ana')
    const { page } = visited
    await page.route('**/v1/runs?*', (route) =>
      route.fulfill({
        status: 503,
        json: { status: 503, code: 'unavailable', detail: 'The store is down.' },
      }),
    )
    await page.evaluate("location.hash = '#/runs'")
    await page.getByText('The store is down.').waitFor()
    await page.unroute('**/v1/runs?*')
    await page.getByRole('button', { name: 'Retry', exact: true }).click()
    await page.locator('.run-row').first().waitFor()
  })
})
