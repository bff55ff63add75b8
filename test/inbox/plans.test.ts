import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chromiumPath, launchBrowser } from './support/browser.ts'
import { postByPlan, startPlans } from './support/plan.ts'
import { startSite, type Visit, visit } from './support/site.ts'

describe.skipIf(chromiumPath === undefined)('plans in the browser', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchBrowser()
  })
  afterAll(() => browser?.close())

  const calm = ({ complaints, foreign }: Visit) =>
    expect({ complaints, foreign }).toEqual({ complaints: [], foreign: [] })

  test('the page of a run draws the layers with their checks, and its waiting task leads to the question', async () => {
    await using site = await startSite({ procedures: [postByPlan] })
    await startPlans(site)
    await using visited = await visit(browser, site, 'ana', '#/runs/post%3A2')
    const { page } = visited
    const plan = page.getByRole('region', { name: 'Plan' })
    await plan.getByText('7 of 13 tasks have ended').waitFor()
    const layers = plan.locator('.plan-layer')
    expect(await layers.count()).toBe(8)
    expect(await layers.nth(0).locator('.task.done').count()).toBe(3)
    expect(await layers.nth(2).textContent()).toContain('Judged by an agent')
    expect(await layers.nth(5).textContent()).toContain('Checked by an agent')
    expect(await layers.nth(5).locator('.task.later').count()).toBe(3)
    // For readers who do not see the lines.
    expect(await layers.nth(1).textContent()).toContain('after draft, spelling')
    // A line for each need.
    expect(await plan.locator('.plan-edges path').count()).toBe(15)
    expect(await plan.locator('.plan-edges path.passed').count()).toBe(7)
    const waiting = plan.getByRole('link', { name: /publish.*Waits for an answer.*Checked by people/s })
    await waiting.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Publish "Tides"?' }).waitFor()
    // The layer, the next one, what was done before and what each choice does.
    const article = (await page.locator('article').textContent()) ?? ''
    for (const text of [
      'Plan, layer 5 of 8',
      'then layer 6 follows: feed, tweet, sitemap',
      'If rejected',
      'preview',
    ])
      expect(article).toContain(text)
    calm(visited)
  })

  test('the drawing follows the run while it is open, and keeps what was undone', async () => {
    await using site = await startSite({ procedures: [postByPlan] })
    const ask = await startPlans(site)
    await using visited = await visit(browser, site, 'ana', '#/runs/post%3A1')
    const { page } = visited
    await page.locator('.task.undone').nth(3).waitFor()
    expect(await page.locator('.task.failed').textContent()).toContain('live')
    await page.evaluate("location.hash = '#/runs/post%3A2'")
    await page.locator('.task.asked').waitFor()
    await site.engine.inbox.answer(ask, { approved: true }, { as: 'user:bob' })
    await page.getByText('13 of 13 tasks have ended').waitFor()
    expect(await page.locator('.task.done').count()).toBe(13)
    calm(visited)
  })
})
