import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findViolations, injectAxe } from './support/axe.ts'
import { chromiumPath, launchBrowser } from './support/browser.ts'
import { startPlans } from './support/plan.ts'
import { askAll, type Site, startSite, visit } from './support/site.ts'

const sizes = { phone: { width: 390, height: 844 }, laptop: { width: 1280, height: 800 } }
const screens = {
  list: '#/',
  approve: '#/asks/refund%3AA-1%2F1',
  input: '#/asks/onboard%3A7%2F0',
  select: '#/asks/release%3A7%2F1',
  review: '#/asks/publish%3A7%2F0',
  escalate: '#/asks/closing%3A7%2F0',
  decide: '#/asks/moderate%3A7%2F0',
  closed: '#/asks/refund%3AB-2%2F1',
  runs: '#/runs',
  run: '#/runs/refund%3AB-2',
  stuck: '#/runs/ship%3A7',
  bug: '#/runs/broken%3A7',
  workers: '#/workers',
  plan: '#/runs/post%3A2',
  undone: '#/runs/post%3A1',
  check: '#/asks/post%3A2%2F7',
}

/** What a screen shows once it is loaded. */
const firstOf: Readonly<Record<string, string>> = {
  '#/': '[data-row]',
  '#/runs': '[data-row]',
  '#/workers': '.worker-head',
  '#/runs/post%3A2': '.plan-edges',
  '#/runs/post%3A1': '.plan-edges',
}

describe.skipIf(chromiumPath === undefined)('axe finds nothing', () => {
  let browser: Browser
  let site: Site
  beforeAll(async () => {
    browser = await launchBrowser()
    site = await startSite()
    await askAll(site)
    await startPlans(site)
  })
  afterAll(async () => {
    await browser?.close()
    await site?.[Symbol.asyncDispose]()
  })

  for (const [size, viewport] of Object.entries(sizes))
    for (const colorScheme of ['light', 'dark'] as const)
      test(`axe finds nothing on any screen, ${size}, ${colorScheme}`, async () => {
        await using visited = await visit(browser, site, 'ana', '#/', {
          viewport,
          colorScheme,
          // Only so that axe can be injected: the page itself runs under the CSP of the server.
          bypassCSP: true,
        })
        const { page } = visited
        await injectAxe(page)
        for (const [name, at] of Object.entries(screens)) {
          await page.evaluate(`location.hash = ${JSON.stringify(at)}`)
          await page
            .locator(firstOf[at] ?? 'article h1')
            .first()
            .waitFor()
          // A screen that is still being drawn is judged once more.
          const judge = async () => ({ name, found: await findViolations(page) })
          await expect.poll(judge, { timeout: 60_000 }).toEqual({ name, found: [] })
        }
        await page.evaluate("location.hash = '#/runs/refund%3AB-2'")
        await page.getByRole('button', { name: 'Fork…' }).click()
        await page.getByLabel('Position').selectOption('1')
        await page.getByLabel('Another result').check()
        await page.getByText('Undo the change').waitFor()
        await expect.poll(() => findViolations(page), { timeout: 60_000 }).toEqual([])
        await page.getByRole('button', { name: 'Preview' }).click()
        await page.getByRole('button', { name: 'Start the fork' }).waitFor()
        await expect.poll(() => findViolations(page), { timeout: 60_000 }).toEqual([])
        await page.keyboard.press('Escape')
        await page.evaluate("location.hash = '#/runs?status=waiting'")
        await page.getByRole('button', { name: 'Cancel all…' }).click()
        await page.getByLabel('Reason').waitFor()
        await expect.poll(() => findViolations(page), { timeout: 60_000 }).toEqual([])
        await page.keyboard.press('Escape')
        await page.locator('dialog').waitFor({ state: 'hidden' })
        await page.keyboard.press('?')
        await page.locator('dialog').waitFor()
        await expect.poll(() => findViolations(page), { timeout: 60_000 }).toEqual([])
      })

  test('axe finds nothing in the login', async () => {
    const context = await browser.newContext({ bypassCSP: true })
    const page = await context.newPage()
    await page.goto(`${site.url}#key=wrong`)
    await page.getByLabel('Key or token').waitFor()
    await injectAxe(page)
    await expect.poll(() => findViolations(page), { timeout: 60_000 }).toEqual([])
    await page.getByLabel('Key or token').fill('ana')
    await page.keyboard.press('Enter')
    await page.getByRole('navigation').waitFor()
    await context.close()
  })
})
