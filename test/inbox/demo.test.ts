import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startExample } from '../../examples/shared/test/start-example.ts'
import { chromiumPath, launchBrowser } from './support/browser.ts'

let browser: Browser
beforeAll(async () => {
  if (chromiumPath !== undefined) browser = await launchBrowser()
})
afterAll(() => browser?.close())

/** Starts the demo as `npm run demo` does, and opens its URL. */
async function openDemo(
  viewport: { readonly width: number; readonly height: number },
  options: BrowserContextOptions = {},
) {
  const demo = await startExample('../../examples/refund/src/demo', import.meta.url, [], { PAWL_STORE: '' })
  const url = (await demo.line(/Open /)).trim().split(/\s+/).at(-1) ?? ''
  const folder = (await demo.line(/written to/)).trim().split(/\s+/).at(-1) ?? ''
  const context = await browser.newContext({ viewport, ...options })
  context.setDefaultTimeout(300_000)
  onTestFinished(async () => {
    await context.close()
    await rm(folder, { recursive: true, force: true })
  })
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('console', (message) => {
    // The strip asks once or twice before the page has logged in.
    if (message.type() === 'error' && !message.text().includes('401')) complaints.push(message.text())
  })
  await page.goto(url)
  return { demo, page, complaints }
}

const strip = (page: Page) => page.getByRole('complementary', { name: 'Demo' })

describe.skipIf(chromiumPath === undefined)('the demo in a browser', () => {
  test.each([
    { width: 1280, height: 800 },
    { width: 390, height: 844 },
  ])(
    'kills the worker, resumes, and opens a second tab as another person, at $width x $height',
    async (viewport) => {
      const { demo, page, complaints } = await openDemo(viewport)
      const bar = strip(page)
      await bar.getByText(/1 of 4/).waitFor()
      await bar.getByText(/Worker 1 works/).waitFor()
      // Some orders are paid, and others are not.
      await bar.getByText(/^[1-9]\d* orders? paid, none twice/).waitFor()
      await bar.getByRole('button', { name: 'Kill the worker' }).click()
      await bar.getByText(/Worker 1 killed/).waitFor()
      expect(demo.output()).toMatch(/worker 1, process \d+, was killed with SIGKILL/)

      await bar.getByRole('button', { name: 'Start a worker' }).click()
      await bar.getByText(/3 of 4/).waitFor()
      expect(await bar.textContent()).toContain('16 orders paid, none twice')
      if (viewport.width > 900)
        expect(await bar.textContent()).toMatch(/replayed \d+ operations, ran \d+ steps/)

      await bar.getByRole('link', { name: 'Open the ask' }).click()
      await page.locator('.params input').fill('400')
      await page.getByRole('button', { name: 'Approve with changes' }).click()
      await page.locator('.confirmation').getByRole('button', { name: 'Yes, approve with changes' }).click()
      await bar.getByText(/4 of 4/).waitFor()
      expect(await bar.textContent()).toContain('17 orders paid, none twice')

      await bar.getByRole('link', { name: 'Open the ask' }).click()
      const [tab] = await Promise.all([
        page.context().waitForEvent('page'),
        bar.getByRole('link', { name: 'Second tab, as Bob' }).click(),
      ])
      await strip(tab)
        .getByText(/4 of 4/)
        .waitFor()
      expect(
        await strip(tab)
          .getByRole('link', { name: /Second tab/ })
          .isVisible(),
      ).toBe(false)
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      expect(await page.evaluate('document.documentElement.scrollHeight <= innerHeight')).toBe(true)
      expect(complaints).toEqual([])
      expect(await demo.kill('SIGINT')).toEqual({ code: 0, signal: null })
    },
  )

  test.each([
    { width: 1280, height: 800, colorScheme: 'light' },
    { width: 390, height: 844, colorScheme: 'dark' },
  ] as const)(
    'has a strip in which axe finds nothing, at $width x $height',
    async ({ colorScheme, ...viewport }) => {
      // Only so that axe can be injected.
      const { page } = await openDemo(viewport, { colorScheme, bypassCSP: true })
      await page.evaluate(readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'))
      const violations = () =>
        page.evaluate(
          'axe.run("#demo", { resultTypes: ["violations"] }).then(({ violations }) => violations.map((one) => one.id + ": " + one.nodes.map((node) => node.html).join("; ")))',
        )
      await strip(page)
        .getByText(/Worker 1 works/)
        .waitFor()
      expect(await violations()).toEqual([])
      await strip(page).getByRole('button', { name: 'Kill the worker' }).click()
      await strip(page)
        .getByText(/Worker 1 killed/)
        .waitFor()
      expect(await violations()).toEqual([])
    },
  )
})
