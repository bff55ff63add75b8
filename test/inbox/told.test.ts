import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chromiumPath, launchBrowser } from './support/browser.ts'
import { askAll, startSite, type Visit, visit } from './support/site.ts'

const approve = '#/asks/refund%3AA-1%2F1'

/** Notes all that screen readers are told from now on. */
async function listen(page: Page): Promise<() => Promise<readonly string[]>> {
  await page.evaluate(`
    window.told = []
    const status = document.querySelector('body > #app > [role=status]')
    new MutationObserver(() => told.push(status.textContent)).observe(status, { childList: true, characterData: true, subtree: true })
  `)
  return () => page.evaluate('window.told')
}

const focusedClass = (page: Page) => page.evaluate('document.activeElement?.className')

describe.skipIf(chromiumPath === undefined)('after an answer the page', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchBrowser()
  })
  afterAll(() => browser?.close())

  const calm = ({ complaints, foreign }: Visit) =>
    expect({ complaints, foreign }).toEqual({ complaints: [], foreign: [] })

  test('tells a screen reader that it was sent, and not that the ask was closed meanwhile', async () => {
    await using site = await startSite()
    await askAll(site)
    await using visited = await visit(browser, site, 'ana', approve)
    const { page } = visited
    await page.getByText('Live', { exact: true }).waitFor()
    const told = await listen(page)
    // The stream tells of the answer as well, and the page reads the ask again.
    const read = page.waitForResponse(/\/v1\/asks\/[^/?]+$/)
    await page.getByRole('button', { name: 'Reject' }).click()
    await page.getByText('Answered by you').waitFor()
    await (await read).finished()
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
    expect(await told()).toEqual(['Your answer was sent.'])
    calm(visited)
  })

  test('tells the same if the stream is faster than the reply', async () => {
    await using site = await startSite()
    await askAll(site)
    await using visited = await visit(browser, site, 'ana', approve)
    const { page } = visited
    await page.getByText('Live', { exact: true }).waitFor()
    const told = await listen(page)
    let release = (): void => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route('**/answer?*', async (route) => {
      const response = await route.fetch()
      await released
      await route.fulfill({ response })
    })
    await page.getByRole('button', { name: 'Reject' }).click()
    await page.getByText('Answered by you').waitFor()
    release()
    await expect.poll(told).toEqual(['Your answer was sent.'])
    expect(await page.locator('.closed-title').getAttribute('data-quiet')).toBe('false')
    calm(visited)
  })

  test('tells of the answer of another person, and of a draft only if there is one', async () => {
    await using site = await startSite()
    await askAll(site)
    await using visited = await visit(browser, site, 'ana', approve)
    const { page } = visited
    await page.getByText('Live', { exact: true }).waitFor()
    const told = await listen(page)
    await site.engine.inbox.answer('refund:A-1/1', { approved: false }, { as: 'user:bob' })
    await page.getByText('Answered by user:bob').waitFor()
    await expect.poll(told).toEqual(['This ask was closed.'])
    calm(visited)
  })

  test('has the focus at what became of the ask, also after a second press', async () => {
    await using site = await startSite()
    await askAll(site)
    await using visited = await visit(browser, site, 'ana', approve)
    const { page } = visited
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.locator('button:focus', { hasText: 'Yes, approve' }).waitFor()
    await page.keyboard.press('Escape')
    await page.locator('button:focus', { hasText: /^Approve$/ }).waitFor()
    await page.keyboard.press('Enter')
    await page.locator('button:focus', { hasText: 'Yes, approve' }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByText('Answered by you').waitFor()
    await expect.poll(() => focusedClass(page)).toBe('closed-title')
    calm(visited)
  })

  test('said before the second press what is done, with the values that count', async () => {
    await using site = await startSite()
    await askAll(site)
    await using visited = await visit(browser, site, 'ana', approve)
    const { page } = visited
    await page.getByLabel('amount').fill('400')
    await page.getByRole('button', { name: 'Approve with changes' }).click()
    const act = page.locator('.confirm-act')
    await act.waitFor()
    expect(await act.locator('p').allInnerTexts()).toEqual([
      'Refund 450 EUR for order A-1?',
      expect.stringMatching(/^amount\s*Before\s*450\s*After\s*400$/),
      'Cannot be undone',
    ])
    await page.getByRole('button', { name: 'Yes, approve with changes' }).click()
    await page.getByText('Answered by you').waitFor()
    // A later visit shows both values as well.
    await page.reload()
    await page.locator('.params .change ins', { hasText: '400' }).waitFor()
    calm(visited)
  })

  test('shows a rejection as one, in its own colour and in the list', async () => {
    await using site = await startSite()
    await askAll(site)
    await using visited = await visit(browser, site, 'ana', approve)
    const { page } = visited
    await page.getByRole('button', { name: 'Reject' }).click()
    await page.locator('.closed.rejected', { hasText: 'Rejected' }).waitFor()
    await page.evaluate("location.hash = '#/?status=answered'")
    const row = (text: string) => page.locator('.ask-row', { hasText: text }).locator('.outcome')
    await row('order A-1').waitFor()
    expect(await row('order A-1').textContent()).toBe('Rejected · ana')
    expect(await row('order B-2').textContent()).toBe('Approved · bob')
    calm(visited)
  })
})
