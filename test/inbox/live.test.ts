import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { job, refund } from './support/asks.ts'
import { chromiumPath, launchBrowser } from './support/browser.ts'
import { startProxy } from './support/proxy.ts'
import { askAll, type Site, startSite, type Visit, visit } from './support/site.ts'

const approve = '#/asks/refund%3AA-1%2F1'
const connection = (page: Page, word: string) => page.locator('.connection', { hasText: word }).waitFor()
const reject = (site: Site, ask = 'refund:A-1/1') =>
  site.engine.inbox.answer(ask, { approved: false }, { as: 'user:bob' })

/** Where the rows and headings of the page are. */
const places = (page: Page, selector: string): Promise<unknown> =>
  page.evaluate(
    `[...document.querySelectorAll(${JSON.stringify(selector)})].map((one) => Math.round(one.getBoundingClientRect().top))`,
  )

describe.skipIf(chromiumPath === undefined)('a page in the browser', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchBrowser()
  })
  afterAll(() => browser?.close())

  const calm = ({ complaints, foreign }: Visit) =>
    expect({ complaints, foreign }).toEqual({ complaints: [], foreign: [] })

  test('is told of an answer by the stream, and asks for nothing meanwhile', async () => {
    await using site = await startSite()
    await askAll(site)
    await using proxy = await startProxy(site)
    await using visited = await visit(browser, proxy, 'ana', approve)
    const { page } = visited
    await connection(page, 'Live')
    // The clock of the page stands still: no timer polls.
    await page.clock.install()
    await page.clock.pauseAt(Date.now() + 10_000)
    const before = proxy.requests.length
    await reject(site)
    await expect.poll(() => proxy.received.includes('ask.closed')).toBe(true)
    await page.clock.runFor(1_100)
    await page.getByText('Answered by user:bob').waitFor()
    const since = proxy.requests.slice(before).filter((one) => one.includes('/v1/asks'))
    expect(since.length).toBeLessThanOrEqual(4)
    calm(visited)
  })

  test('moves neither the rows of the list nor the focus when an ask is opened or closed', async () => {
    await using site = await startSite()
    await askAll(site)
    await using visited = await visit(browser, site, 'ana')
    const { page } = visited
    await connection(page, 'Live')
    const rows = page.locator('.ask-row')
    await rows.nth(1).hover()
    await rows.nth(1).focus()
    const [before, href] = [await places(page, '.ask-row'), await rows.nth(1).getAttribute('href')]
    await reject(site)
    await site.engine.run(refund, { orderId: 'C-3', amount: 10 }, { id: 'refund:C-3' })
    await page.getByRole('button', { name: '1 new' }).waitFor()
    await page.locator('.gone').waitFor()
    expect(await places(page, '.ask-row')).toEqual(before)
    expect(await page.evaluate('document.activeElement?.getAttribute("href")')).toBe(href)
    calm(visited)
  })

  test('closes an ask in the place of its form, and what is being typed opens no other ask', async () => {
    await using site = await startSite()
    await askAll(site)
    await using visited = await visit(browser, site, 'ana', approve)
    const { page } = visited
    await connection(page, 'Live')
    await page.locator('#comment').pressSequentially('The ')
    const before = await places(page, '.ask-page :is(h1, h2, .param)')
    await reject(site)
    await page.getByText('Answered by user:bob').waitFor()
    expect(await places(page, '.ask-page :is(h1, h2:not(.kept h2), .param)')).toEqual(before)
    await page.keyboard.type('jar is a')
    await page.keyboard.press('Enter')
    expect(await page.evaluate('location.hash')).toBe(approve)
    expect(await page.locator('.kept').textContent()).toContain('The')
    calm(visited)
  })

  test('shows the steps of a run as they are done, and moves no entry under the pointer', async () => {
    await using site = await startSite({ procedures: [job] })
    const steps = await site.engine.run(job, undefined, { id: 'job:1' })
    await using visited = await visit(browser, site, 'ana', '#/runs/job%3A1')
    const { page } = visited
    await connection(page, 'Live')
    const next = () => steps.signal('next')
    await page.locator('.entry').first().waitFor()
    await next()
    await page.locator('.entry-name', { hasText: 'step 1' }).waitFor()

    await page.locator('.entry').last().hover()
    await page.locator('.entry summary').last().focus()
    const before = await places(page, '.entry, h2')
    await next()
    await next()
    await page.getByRole('button', { name: '4 new' }).waitFor()
    expect(await places(page, '.entry, h2')).toEqual(before)
    expect(await page.evaluate('document.activeElement?.tagName')).toBe('SUMMARY')
    await page.getByRole('button', { name: '4 new' }).click()
    await page.locator('.entry-name', { hasText: 'step 3' }).waitFor()
    calm(visited)
  })

  test('polls while a proxy holds the stream back, and says so', async () => {
    await using site = await startSite()
    await askAll(site)
    await using proxy = await startProxy(site)
    proxy.mode = 'hold'
    await using visited = await visit(browser, proxy, 'ana', approve)
    const { page } = visited
    await connection(page, 'Polling')
    await reject(site)
    await page.getByText('Answered by user:bob').waitFor()
    await connection(page, 'Polling')
    calm(visited)
  })

  test('notices within a minute that a stream has gone silent, polls, and is live again on a new one', async () => {
    await using site = await startSite()
    await askAll(site)
    await using proxy = await startProxy(site)
    await using visited = await visit(browser, proxy, 'ana', approve)
    const { page } = visited
    await page.clock.install()
    await page.reload()
    await connection(page, 'Live')
    await page.clock.pauseAt(Date.now() + 10_000)
    proxy.mode = 'hold'
    proxy.cut()
    await page.clock.runFor(50_000)
    await connection(page, 'Polling')
    await reject(site)
    await page.clock.runFor(6_000)
    await page.getByText('Answered by user:bob').waitFor()
    proxy.mode = 'pass'
    await expect
      .poll(async () => {
        await page.clock.runFor(10_000)
        return page.locator('.connection', { hasText: 'Live' }).count()
      })
      .toBe(1)
  })

  test('that slept for an hour with its computer catches up at once, on a new stream', async () => {
    await using site = await startSite()
    await askAll(site)
    await using proxy = await startProxy(site)
    await using visited = await visit(browser, proxy, 'ana', '#/')
    const { page } = visited
    await page.clock.install()
    await page.reload()
    await connection(page, 'Live')
    await page.clock.pauseAt(Date.now() + 2_000)
    // The network forgets the connection, and nothing tells the browser.
    proxy.cut()
    await reject(site)
    await site.engine.run(refund, { orderId: 'C-3', amount: 10 }, { id: 'refund:C-3' })
    const before = proxy.requests.length
    // While a computer sleeps, its timers stand still as well.
    await page.clock.setSystemTime(Date.now() + 3_600_000)
    await page.clock.runFor(5_100)
    await page.clock.resume()
    await page.getByRole('button', { name: '1 new' }).waitFor()
    await page.locator('.gone').waitFor()
    await connection(page, 'Live')
    expect(proxy.requests.slice(before).filter((one) => one.startsWith('GET /v1/events')).length).toBe(1)
  })

  test('that was frozen in the background catches up when it is resumed', async () => {
    await using site = await startSite()
    await askAll(site)
    await using visited = await visit(browser, site, 'ana', approve)
    const { page } = visited
    await connection(page, 'Live')
    const session = await page.context().newCDPSession(page)
    await session.send('Page.setWebLifecycleState', { state: 'frozen' })
    await reject(site)
    await session.send('Page.setWebLifecycleState', { state: 'active' })
    await page.getByText('Answered by user:bob').waitFor()
    calm(visited)
  })

  for (const [which, hours] of [
    ['fast', 2],
    ['slow', -2],
  ] as const)
    test(`whose clock is two hours ${which} shows ages and deadlines by the clock of the server`, async () => {
      await using site = await startSite()
      await askAll(site)
      await using visited = await visit(browser, site, 'ana')
      const { page } = visited
      await page.clock.install({ time: Date.now() + hours * 3_600_000 })
      await page.reload()
      await page.evaluate(`location.hash = ${JSON.stringify(approve)}`)
      await connection(page, 'Live')
      await page.getByText(/^Due in (2|3) hr/).waitFor()
      await page.getByText(/^Asked \d+ (sec|min) ago/).waitFor()
      await page.context().setOffline(true)
      await page.getByText(/This page is from \d+ sec ago/).waitFor()
    })

  test('of several tabs shares one stream, and leads when the leader closes', async () => {
    await using site = await startSite()
    await askAll(site)
    await using proxy = await startProxy(site)
    await using visited = await visit(browser, proxy, 'ana', approve)
    const { page } = visited
    await connection(page, 'Live')
    const others = await Promise.all(Array.from({ length: 6 }, () => page.context().newPage()))
    for (const other of others) {
      await other.goto(`${proxy.url}${approve}`)
      await connection(other, 'Live')
    }
    expect(proxy.streams).toBe(1)
    await page.close()
    await reject(site)
    for (const other of others) {
      await other.getByText('Answered by user:bob').waitFor()
      await connection(other, 'Live')
    }
    expect(proxy.streams).toBe(1)
  })
})
