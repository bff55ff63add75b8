import { procedure } from '@pawl/core'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { job } from './support/asks.ts'
import { chromiumPath, launchBrowser } from './support/browser.ts'
import { askAll, startSite, type Visit, visit } from './support/site.ts'

const asking = procedure({ name: 'asking' }, async (ctx): Promise<void> => {
  await Promise.all(
    (['user:mia', 'user:ana', 'group:support'] as const).map((to) =>
      ctx.human.approve(`For ${to}?`, { to, key: to }),
    ),
  )
})

describe.skipIf(chromiumPath === undefined)('the inbox in the browser', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchBrowser()
  })
  afterAll(() => browser?.close())

  const calm = ({ complaints, foreign }: Visit) =>
    expect({ complaints, foreign }).toEqual({ complaints: [], foreign: [] })
  const messages = (page: Page) => () => page.locator('.row-message').allInnerTexts()

  test('opens on what is for the user, with the number, and lets nobody answer for others', async () => {
    await using site = await startSite({ procedures: [asking] })
    await site.engine.run(asking, undefined, { id: 'asking:1' })
    await expect.poll(() => site.engine.inbox.count({})).toEqual({ count: 3, capped: false })
    await using visited = await visit(browser, site, 'ana')
    const { page } = visited
    await expect.poll(messages(page)).toEqual(['For user:ana?', 'For group:support?'])
    await page.locator('nav .count', { hasText: '2' }).waitFor()
    expect(await page.title()).toBe('(2) Inbox · Pawl')
    await page.getByRole('button', { name: 'All', exact: true }).click()
    await page.locator('.row-message', { hasText: 'For user:mia?' }).click()
    await page.getByText('This ask is addressed to mia. You can read it, but not answer it.').waitFor()
    expect(await page.locator('.answer').count()).toBe(0)
    calm(visited)
  })

  test('lets an administrator answer what is addressed to others', async () => {
    await using site = await startSite({ procedures: [asking] })
    await site.engine.run(asking, undefined, { id: 'asking:1' })
    await using visited = await visit(browser, site, 'bob')
    const { page } = visited
    await page.getByText('There are no open asks for you.').waitFor()
    await page.getByRole('button', { name: 'Show all asks' }).click()
    await page.locator('.row-message', { hasText: 'For user:mia?' }).click()
    await page.getByRole('button', { name: 'Reject' }).click()
    await page.getByText('Answered by you').waitFor()
    calm(visited)
  })

  test('has the filter in its address, which a reload and another person keep', async () => {
    await using site = await startSite()
    await askAll(site)
    await using visited = await visit(browser, site, 'ana')
    const { page } = visited
    await page.getByLabel('Kind', { exact: true }).selectOption('review')
    await expect.poll(messages(page)).toEqual(['Publish these release notes?'])
    expect(await page.evaluate('location.hash')).toBe('#/?kind=review')
    await page.locator('.ask-row').click()
    await page.getByRole('heading', { level: 1, name: 'Publish these release notes?' }).waitFor()
    await page.reload()
    await expect.poll(messages(page)).toEqual(['Publish these release notes?'])
    await page.getByRole('heading', { level: 1, name: 'Publish these release notes?' }).waitFor()
    await page.goBack()
    await expect.poll(() => page.evaluate('location.hash')).toBe('#/?kind=review')
    await page.goBack()
    await expect.poll(async () => (await messages(page)()).length).toBeGreaterThan(1)
    expect(await page.getByLabel('Kind', { exact: true }).inputValue()).toBe('')
    calm(visited)
  })

  test('comes back from a run to the same runs at the same place', async () => {
    await using site = await startSite({ procedures: [job] })
    for (let index = 0; index < 120; index++)
      await site.engine.run(job, undefined, { id: `job:${index}`, tags: index % 2 === 0 ? ['even'] : [] })
    await using visited = await visit(browser, site, 'ana', '#/runs?tag=even')
    const { page } = visited
    const rows = page.locator('.run-row')
    await expect.poll(() => rows.count()).toBe(50)
    expect(await page.getByRole('searchbox', { name: 'Tag' }).inputValue()).toBe('even')
    await page.getByRole('button', { name: 'Load more' }).click()
    await expect.poll(() => rows.count()).toBe(60)
    await rows.last().scrollIntoViewIfNeeded()
    const top = () => page.evaluate('document.getElementById("main").scrollTop')
    const before = await top()
    expect(before).toBeGreaterThan(500)
    await rows.last().click()
    await page.locator('.run-head').waitFor()
    expect(await top()).toBe(0)
    await page.locator('.back').click()
    await expect.poll(() => rows.count()).toBe(60)
    expect(await page.evaluate('location.hash')).toBe('#/runs?tag=even')
    await expect.poll(top).toBe(before)
    calm(visited)
  })
})
