import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { refund } from './support/asks.ts'
import { chromiumPath, launchBrowser } from './support/browser.ts'
import { askAll, startSite, type Visit, visit } from './support/site.ts'

/** Opens the ask whose message begins so with the keys of the list. */
async function openByKeyboard(page: Page, message: string): Promise<void> {
  await page.locator('.ask-row').first().waitFor()
  const messages = await page.locator('.row-message').allInnerTexts()
  const index = messages.findIndex((text) => text.startsWith(message))
  for (let moves = 0; moves <= index; moves += 1) await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: message }).waitFor()
}

async function typeInto(page: Page, label: string, text: string): Promise<void> {
  for (let stops = 0; stops < 60; stops += 1) {
    await page.keyboard.press('Tab')
    const name = await page.evaluate('document.activeElement?.labels?.[0]?.textContent')
    if (String(name).startsWith(label)) break
  }
  await page.keyboard.type(text)
}

describe.skipIf(chromiumPath === undefined)('in the browser, by keyboard alone,', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchBrowser()
  })
  afterAll(() => browser?.close())

  /** Waits until the button has the focus: a key that is pressed before goes to another one. */
  const focused = (page: Page, name: string | RegExp) =>
    page.locator('button:focus', { hasText: name }).waitFor()

  const answered = async ({ page, complaints, foreign }: Visit) => {
    await page.getByText('Answered by you').waitFor()
    expect({ complaints, foreign }).toEqual({ complaints: [], foreign: [] })
  }

  test('an approval is answered with a changed value, by keyboard alone', async () => {
    await using site = await startSite()
    await askAll(site)
    await using visited = await visit(browser, site, 'ana')
    const { page } = visited
    await openByKeyboard(page, 'Refund 450 EUR')
    expect(page.url()).not.toContain('key=')
    await page.keyboard.press('e')
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type('400')
    await page.locator('.change ins', { hasText: '400' }).waitFor()
    // The next stop is "Undo the change", where letters are shortcuts again.
    await page.keyboard.press('Tab')
    await page.keyboard.press('a')
    await page.keyboard.press('Enter')
    // A high risk takes a second act.
    await focused(page, 'Yes, approve with changes')
    await page.keyboard.press('Enter')
    await answered(visited)
    expect(await site.engine.get('refund:A-1').result()).toBe('refunded 400 of 450')
  })

  test('an approval is rejected with a comment, by keyboard alone', async () => {
    await using site = await startSite()
    await askAll(site)
    await using visited = await visit(browser, site, 'ana')
    const { page } = visited
    await openByKeyboard(page, 'Refund 450 EUR')
    await page.keyboard.press('c')
    await page.keyboard.type('The parcel was not empty.')
    await page.keyboard.press('Tab')
    await page.keyboard.press('r')
    await page.keyboard.press('Enter')
    await answered(visited)
    const ask = await site.engine.inbox.get('refund:A-1/1')
    expect(ask?.answer).toMatchObject({
      approved: false,
      comment: 'The parcel was not empty.',
      by: 'user:ana',
    })
  })

  test('an input is filled in and sent, by keyboard alone', async () => {
    await using site = await startSite()
    await askAll(site)
    await using visited = await visit(browser, site, 'ana')
    const { page } = visited
    await openByKeyboard(page, 'Who gets the keys')
    await page.keyboard.press('e')
    await page.keyboard.type('Ada')
    await typeInto(page, 'email', 'ada@example.org')
    await page.keyboard.press('Tab')
    await typeInto(page, 'desks', '2')
    await page.keyboard.press('Tab')
    await page.keyboard.press('ArrowDown') // the radios of "doors"
    await page.keyboard.press('Tab') // "isRemote"
    await page.keyboard.press('Space')
    await page.keyboard.press('a')
    await page.keyboard.press('Enter')
    await answered(visited)
    const ask = await site.engine.inbox.get('onboard:7/0')
    expect(ask?.answer).toMatchObject({
      value: { name: 'Ada', email: 'ada@example.org', desks: 2, doors: 'lab', isRemote: true, keys: [] },
    })
  })

  test('a choice is selected, and a dangerous one needs a second act, by keyboard alone', async () => {
    await using site = await startSite()
    await askAll(site)
    await using visited = await visit(browser, site, 'ana')
    const { page } = visited
    await openByKeyboard(page, 'Where does version 2.1 go?')
    await page.keyboard.press('e')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('a')
    await page.keyboard.press('Enter')
    await focused(page, /^Yes, (choose|production)/)
    expect(await site.engine.inbox.get('release:7/1')).toMatchObject({ status: 'open' })
    await page.keyboard.press('Enter')
    await answered(visited)
    expect(await site.engine.get('release:7').result()).toBe('production')
  })

  test('a review is approved with an edit after its changes were shown, by keyboard alone', async () => {
    await using site = await startSite()
    await askAll(site)
    await using visited = await visit(browser, site, 'ana')
    const { page } = visited
    await openByKeyboard(page, 'Publish these release notes?')
    await page.locator('.changes ins', { hasText: 'Dark mode' }).waitFor()
    await page.keyboard.press('e')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    await page.keyboard.press('ControlOrMeta+End')
    await page.keyboard.type('See you soon.')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('a')
    await page
      .getByRole('button', { name: /with your edit/i })
      .first()
      .waitFor()
    await page.keyboard.press('Enter')
    await answered(visited)
    expect(await site.engine.get('publish:7').result()).toMatch(/^approve: # Version 2\.1.*See you soon\.$/s)
  })

  test('an escalation is resolved, by keyboard alone', async () => {
    await using site = await startSite()
    await askAll(site)
    await using visited = await visit(browser, site, 'ana')
    const { page } = visited
    await openByKeyboard(page, 'The totals of October differ')
    await page.getByText('120 <> 118').waitFor()
    await page.keyboard.press('e')
    await page.keyboard.press('Space')
    await page.keyboard.press('a')
    await page.keyboard.press('Enter')
    await answered(visited)
    expect(await site.engine.get('closing:7').result()).toBe('recount')
  })

  test('a decision that an agent left to people is answered, by keyboard alone', async () => {
    await using site = await startSite()
    await askAll(site)
    await using visited = await visit(browser, site, 'bob', '#/?whose=all')
    const { page } = visited
    await page.locator('.row-message', { hasText: 'Is this comment spam?' }).waitFor()
    await openByKeyboard(page, 'Is this comment spam?')
    await page.getByText('Cheap watches').waitFor()
    await page.keyboard.press('a')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await answered(visited)
    expect(await site.engine.get('moderate:7').result()).toBe('keep')
  })
})

describe.skipIf(chromiumPath === undefined)('in the browser', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchBrowser()
  })
  afterAll(() => browser?.close())

  test('an invalid answer is kept, with the issue and the focus at its field, and after a reload', async () => {
    await using site = await startSite()
    await askAll(site)
    await using visited = await visit(browser, site, 'ana', '#/asks/refund%3AA-1%2F1')
    const { page } = visited
    await page.getByLabel('amount').fill('451')
    await page.getByRole('button', { name: 'Approve with changes' }).click()
    await page.getByRole('button', { name: 'Yes, approve with changes' }).click()
    await page.locator('.field .issues').waitFor()
    expect(await page.locator('.field .issues').textContent()).toContain('450')
    expect(await page.evaluate('document.activeElement?.getAttribute("id")')).toBe(
      await page.getByLabel('amount').getAttribute('id'),
    )
    expect(await page.getByLabel('amount').getAttribute('aria-invalid')).toBe('true')
    await page.reload()
    await page.getByLabel('amount').waitFor()
    expect(await page.getByLabel('amount').inputValue()).toBe('451')
    expect(await site.engine.inbox.get('refund:A-1/1')).toMatchObject({ status: 'open' })
  })

  test('of two people at one ask, the slower one is told who was faster and keeps the draft', async () => {
    await using site = await startSite()
    await askAll(site)
    await using slow = await visit(browser, site, 'ana', '#/asks/refund%3AA-1%2F1')
    await using fast = await visit(browser, site, 'bob', '#/asks/refund%3AA-1%2F1')
    await slow.page.getByLabel('amount').fill('420')
    await fast.page.getByRole('button', { name: 'Reject' }).click()
    await fast.page.getByText('Answered by you').waitFor()

    await slow.page.getByText('Answered by user:bob').waitFor()
    await slow.page.getByRole('heading', { name: 'Your draft' }).waitFor()
    expect(await slow.page.locator('.kept').textContent()).toContain('amount: 420')
    expect(await slow.page.getByRole('button', { name: 'Approve' }).count()).toBe(0)
  })

  test('an answer that arrives second is told who was faster', async () => {
    await using site = await startSite()
    await askAll(site)
    await using visited = await visit(browser, site, 'ana', '#/asks/refund%3AA-1%2F1')
    const { page } = visited
    await page.getByLabel('amount').fill('420')
    let isSent = false
    page.on('request', (request) => {
      if (request.method() === 'POST') isSent = true
    })
    // No poll learns of it before the answer is sent.
    await page.route('**/v1/asks/*', (route) => (isSent ? route.continue() : route.abort()))
    await site.engine.inbox.answer('refund:A-1/1', { approved: false }, { as: 'user:bob' })
    await page.getByRole('button', { name: 'Approve with changes' }).click()
    await page.getByRole('button', { name: 'Yes, approve with changes' }).click()
    await page.getByText('Answered by user:bob').waitFor()
    expect(await page.locator('.kept').textContent()).toContain('amount: 420')
  })

  test('without the network the page stays, says so, keeps the draft, and sends nothing by itself', async () => {
    await using site = await startSite()
    await askAll(site)
    await using visited = await visit(browser, site, 'ana', '#/asks/refund%3AA-1%2F1')
    const { page } = visited
    await page.getByLabel('amount').fill('420')
    await page.context().setOffline(true)
    await page.getByRole('button', { name: 'Approve with changes' }).click()
    await page.getByRole('button', { name: 'Yes, approve with changes' }).click()
    await page.locator('.failure', { hasText: 'The server was not reached' }).waitFor()
    await page.getByText('The server does not answer').waitFor()
    await page.context().setOffline(false)
    await page.getByText('Live', { exact: true }).waitFor()
    expect(await page.getByLabel('amount').inputValue()).toBe('420')
    expect(await site.engine.inbox.get('refund:A-1/1')).toMatchObject({ status: 'open' })
  })

  test('a new ask waits behind a button, and takes neither the focus nor the place of another', async () => {
    await using site = await startSite()
    await askAll(site)
    await using visited = await visit(browser, site, 'ana')
    const { page } = visited
    const rows = page.locator('.ask-row')
    await rows.first().waitFor()
    await rows.nth(1).focus()
    const before = await page.locator('.row-message').allInnerTexts()
    await site.engine.inbox.answer('publish:7/0', { choice: 'reject' }, { as: 'user:bob' })
    const run = await site.engine.run(refund, { orderId: 'C-3', amount: 10 }, { id: 'refund:C-3' })
    await site.engine.inbox.next({ run: run.id })

    await page.getByRole('button', { name: '1 new' }).waitFor()
    expect(await page.locator('.row-message').allInnerTexts()).toEqual(before)
    expect(await page.locator('.gone').count()).toBe(1)
    expect(await page.evaluate('document.activeElement?.getAttribute("href")')).toBe(
      await rows.nth(1).getAttribute('href'),
    )
    expect(await page.getByRole('status').textContent()).toBe('1 new ask')
    await page.getByRole('button', { name: '1 new' }).click()
    await page.getByRole('link', { name: /order C-3/ }).waitFor()
    expect(await page.locator('.gone').count()).toBe(0)
  })
})
