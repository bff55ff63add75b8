import { procedure } from '@pawl/core'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { chromiumPath, launchBrowser } from './support/browser.ts'
import { type Site, startSite, type Visit, visit } from './support/site.ts'

const order = z.object({ amount: z.number(), note: z.string() })
const stock = Array.from({ length: 40 }, (_, index) => ({
  product: `Warehouse product ${index}`,
  price: 1.1 + 2.2,
  warehouse: 'Hamburg-Wilhelmsburg',
  supplier: 'Example Trading Company',
  country: 'Germany',
  category: 'Electronics',
}))

const paying = procedure({ name: 'paying' }, async (ctx): Promise<void> => {
  await ctx.human.approve('Pay {amount} EUR?', {
    params: { amount: 1.1 + 2.2, note: 'gift' },
    editable: ['amount'],
    schema: order,
    timeout: '3h',
    details: [
      { title: 'Stock', body: stock, as: 'table' },
      { title: 'הערה', body: 'שלום עולם.' },
    ],
  })
})

const phone = { width: 390, height: 844 }
const ask = '#/asks/paying%3A1%2F0'

describe.skipIf(chromiumPath === undefined)('the inbox in the browser', () => {
  let browser: Browser
  let site: Site
  beforeAll(async () => {
    browser = await launchBrowser()
    site = await startSite({ procedures: [paying] })
    for (const id of ['paying:1', 'paying:2']) {
      const run = await site.engine.run(paying, undefined, { id })
      await site.engine.inbox.next({ run: run.id })
    }
  })
  afterAll(async () => {
    await browser?.close()
    await site?.[Symbol.asyncDispose]()
  })

  const calm = ({ complaints, foreign }: Visit) =>
    expect({ complaints, foreign }).toEqual({ complaints: [], foreign: [] })
  const evaluate = (page: Page, script: string) => page.evaluate(script)

  test('reads and shows numbers as a reader with a decimal comma writes them', async () => {
    await using visited = await visit(browser, site, 'ana', ask, { locale: 'de-DE' })
    const { page } = visited
    await page.getByLabel('amount').fill('400,5')
    await page.getByText('= 400,5', { exact: true }).waitFor()
    expect(await page.locator('.params .change').textContent()).toContain('3,3')
    expect(await page.locator('td', { hasText: /^3,3$/ }).count()).toBe(stock.length)
    await page.getByRole('button', { name: 'Approve with changes' }).waitFor()
    await page.getByLabel('amount').fill('400,5,')
    // It is edited, also while it cannot be sent.
    await page.getByRole('button', { name: 'Approve with changes' }).waitFor()
    await page.evaluate('sessionStorage.clear()')
    calm(visited)
  })

  test('keeps the words of a table whole on a phone, scrolls it sideways, and counts its rows', async () => {
    await using visited = await visit(browser, site, 'ana', ask, { viewport: phone })
    const { page } = visited
    const table = page.locator('table')
    await table.waitFor()
    expect(await table.locator('caption').textContent()).toBe('40 rows')
    const rest = "document.querySelector('.scroll')"
    expect(await evaluate(page, `${rest}.scrollWidth > ${rest}.clientWidth`)).toBe(true)
    const lines = `(() => {
      const range = document.createRange()
      range.selectNodeContents([...document.querySelectorAll('td')].find((one) => one.textContent.startsWith('Hamburg')).querySelector('bdi'))
      return new Set([...range.getClientRects()].map(({ top }) => top)).size
    })()`
    expect(await evaluate(page, lines)).toBeLessThanOrEqual(2)
    const first = () => table.locator('td').first().boundingBox()
    const before = await first()
    await evaluate(page, `${rest}.scrollTo(300, 0)`)
    expect((await first())?.x).toBe(before?.x)
    expect(await evaluate(page, 'document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    calm(visited)
  })

  test('begins a text that is read from the right at the right', async () => {
    await using visited = await visit(browser, site, 'ana', ask)
    const { page } = visited
    const text = page.getByText('שלום עולם.')
    await text.waitFor()
    const style = `(() => {
      const found = [...document.querySelectorAll('.ask-page [dir=auto]')].find((one) => one.textContent === 'שלום עולם.')
      const { direction, display } = getComputedStyle(found)
      return direction + ' ' + display
    })()`
    expect(await evaluate(page, style)).toBe('rtl block')
    calm(visited)
  })

  test('says on a phone who is logged in, in what state, and has the way out in a menu', async () => {
    await using visited = await visit(browser, site, 'ana', '#/', { viewport: phone })
    const { page } = visited
    const menu = page.getByRole('button', { name: 'Menu' })
    const box = await menu.boundingBox()
    expect(Math.min(box?.width ?? 0, box?.height ?? 0)).toBeGreaterThanOrEqual(44)
    for (const link of await page.getByRole('navigation').getByRole('link').all())
      expect((await link.boundingBox())?.height).toBeLessThanOrEqual(52)
    expect(await evaluate(page, 'document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    await menu.click()
    await page.locator('.menu', { hasText: 'ana' }).getByText('Live', { exact: true }).waitFor()
    await page.keyboard.press('Escape')
    await page.locator('.menu').waitFor({ state: 'hidden' })
    await menu.click()
    await page.locator('.menu').getByRole('button', { name: 'Log out' }).click()
    await page.getByLabel('Key or token').fill('nobody')
    await page.keyboard.press('Enter')
    await page.getByText('This key is not valid.').waitFor()
  })

  test('opens a link with a key at the page that it names', async () => {
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.goto(`${site.url}#key=ana&at=/runs/paying%3A1`)
    await page.getByRole('heading', { level: 1, name: 'paying:1' }).waitFor()
    expect(page.url()).not.toContain('key=')
    await context.close()
  })

  test('is one stop of the keyboard in its list, whose arrows move, and Esc leaves a field', async () => {
    await using visited = await visit(browser, site, 'ana')
    const { page } = visited
    const rows = page.locator('.ask-row')
    await rows.first().waitFor()
    await rows.first().focus()
    await page.keyboard.press('ArrowDown')
    expect(await evaluate(page, 'document.activeElement.getAttribute("href")')).toBe(
      await rows.nth(1).getAttribute('href'),
    )
    await page.keyboard.press('Enter')
    await page.locator('#comment').waitFor()
    expect(await page.locator('.ask-row[tabindex="0"]').count()).toBe(1)
    await page.locator('#comment').focus()
    await page.keyboard.type('a')
    await page.keyboard.press('Escape')
    await page.keyboard.press('a')
    await page.locator('button:focus', { hasText: 'Approve' }).waitFor()
    expect(await page.locator('#comment').inputValue()).toBe('a')
    await page.evaluate('sessionStorage.clear()')
    calm(visited)
  })

  test('says how long an ask waits and when it is due, by the clock', async () => {
    await using visited = await visit(browser, site, 'ana', ask)
    const { page } = visited
    await page
      .locator('.row-due', { hasText: /^due in 3 hr$/ })
      .first()
      .waitFor()
    const due = page.locator('.ask-head .due')
    expect(await due.textContent()).toMatch(/^Due in 3 hr · .*\d+:\d\d/)
    expect(await due.getAttribute('title')).toMatch(/\d{4}/)
    calm(visited)
  })

  test('counts the seconds of what is younger than a minute', async () => {
    await using visited = await visit(browser, site, 'ana')
    const { page } = visited
    await page.clock.install()
    await page.reload()
    await page.locator('.ask-row').first().waitFor()
    await page.context().setOffline(true)
    await page.locator('.offline-bar').waitFor()
    await page.clock.pauseAt(Date.now() + 10_000)
    const age = async () =>
      Number(/(\d+) sec/.exec((await page.locator('.offline-bar').textContent()) ?? '')?.[1])
    const before = await age()
    await page.clock.runFor(3_000)
    await expect.poll(age).toBe(before + 3)
  })

  test('prints an ask whole, without what only works on a screen', async () => {
    await using visited = await visit(browser, site, 'ana', ask)
    const { page } = visited
    await page.locator('table').waitFor()
    await page.emulateMedia({ media: 'print' })
    for (const gone of ['.top', '.list-pane', '.bar', '.comment', '.back'])
      expect(await page.locator(gone).first().isVisible()).toBe(false)
    const { id } = (await site.engine.inbox.list({ run: 'paying:1' })).items[0] ?? {}
    await page.locator('.meta .printed', { hasText: id ?? 'no ask' }).waitFor()
    // Nothing scrolls within the sheet: all of it is printed.
    expect(
      await evaluate(
        page,
        '[...document.querySelectorAll("main, .detail-pane, .scroll")].filter((one) => one.scrollHeight > one.clientHeight + 1).length',
      ),
    ).toBe(0)
    calm(visited)
  })
})
