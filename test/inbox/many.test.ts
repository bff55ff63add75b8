import { procedure } from '@pawl/core'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { chromiumPath, launchBrowser } from './support/browser.ts'
import { startProxy } from './support/proxy.ts'
import { startSite, visit } from './support/site.ts'

const count = 10_000

const invoice = procedure({ name: 'invoice', input: z.number() }, async (ctx, number): Promise<void> => {
  // One of the last in the list, among thousands of others.
  const risk = number === 77 ? 'low' : 'medium'
  await ctx.human.approve(`Pay invoice ${number}?`, { risk })
})

describe.skipIf(chromiumPath === undefined)('with 10,000 open asks the list', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchBrowser()
  })
  afterAll(() => browser?.close())

  test('loads a page at a time, keeps keys working, and finds the one ask of a risk', async () => {
    await using site = await startSite({ procedures: [invoice] })
    for (let from = 0; from < count; from += 500)
      await Promise.all(
        Array.from({ length: 500 }, (_, index) =>
          site.engine.run(invoice, from + index, { id: `invoice:${from + index}` }),
        ),
      )
    await expect
      .poll(() => site.engine.inbox.count({}), { interval: 500 })
      .toEqual({ count: 1_000, capped: true })
    await site.engine.inbox.next({ run: `invoice:${count - 1}` })
    await using proxy = await startProxy(site)
    await using visited = await visit(browser, proxy, 'bob')
    const { page, complaints } = visited
    const rows = page.locator('.ask-row')
    await rows.first().waitFor()
    expect(await rows.count()).toBe(50)
    const lists = () => proxy.requests.filter((one) => one.startsWith('GET /v1/asks?')).length
    const before = lists()
    await page.getByRole('button', { name: 'Load more' }).click()
    await expect.poll(() => rows.count()).toBe(100)
    expect(lists() - before).toBeLessThanOrEqual(2)

    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: /Pay invoice/ }).waitFor()
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByText('Answered by you').waitFor()

    await page.getByLabel('Risk', { exact: true }).selectOption('low')
    await rows.getByText('Pay invoice 77?').waitFor()
    expect(await rows.count()).toBe(1)
    expect(complaints).toEqual([])
  })
})
