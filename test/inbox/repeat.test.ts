import { procedure } from '@pawl/core'
import type { Browser, Route } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { findViolations, injectAxe } from './support/axe.ts'
import { chromiumPath, launchBrowser } from './support/browser.ts'
import { startSite, type Visit, visit } from './support/site.ts'

describe.skipIf(chromiumPath === undefined)('retries and forks in the browser', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchBrowser()
  })
  afterAll(() => browser?.close())

  const calm = ({ complaints, foreign }: Visit) =>
    expect({ complaints, foreign }).toEqual({ complaints: [], foreign: [] })

  test('a failed run is retried after a person has seen what runs again, with the keyboard alone', async () => {
    let isDown = true
    const paid: string[] = []
    const paying = procedure({ name: 'paying' }, async (ctx) => {
      await ctx.step('load order', () => 'A-1')
      const pay = () => {
        if (isDown) throw new Error('it is down')
        paid.push('A-1')
      }
      await ctx.step('pay', pay, { retry: false })
    })
    await using site = await startSite({ procedures: [paying] })
    await (await site.engine.run(paying, undefined, { id: 'paying:1' })).result().catch(() => {})
    await using visited = await visit(browser, site, 'ana', '#/runs/paying%3A1', { bypassCSP: true })
    const { page } = visited
    await injectAxe(page)
    const open = page.getByRole('button', { name: 'Retry…' })
    await open.focus()
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Retry paying:1?' })
    // What has to be read next has the focus.
    await expect.poll(() => page.locator(':focus').textContent()).toBe('What will run again')
    expect(await dialog.textContent()).toContain('1 recorded result is kept')
    expect(await dialog.locator('.operations').allTextContents()).toEqual(['1payeffect'])
    expect(await dialog.textContent()).toContain('1 effect runs again, with the same idempotency key')
    expect(await findViolations(page)).toEqual([])
    // Nothing has happened yet, and Escape gives the focus back.
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    expect(await page.locator(':focus').textContent()).toBe('Retry…')
    expect(await site.engine.get('paying:1').status()).toMatchObject({ status: 'failed' })
    isDown = false
    await page.keyboard.press('Enter')
    await dialog.getByRole('button', { name: 'Retry now' }).focus()
    await page.keyboard.press('Enter')
    await page.locator('.status-completed').waitFor()
    expect(paid).toEqual(['A-1'])
    expect(await page.getByRole('button', { name: 'Retry…' }).count()).toBe(0)
    calm(visited)
  })

  test('what the server refuses is said in the dialog, which offers no confirmation', async () => {
    const booking = procedure({ name: 'booking' }, async (ctx) => {
      await ctx.step('book', () => 'booked', { undo: () => undefined })
      await ctx.step('pay', () => Promise.reject(new Error('it is down')), { retry: false })
    })
    await using site = await startSite({ procedures: [booking] })
    await (await site.engine.run(booking, undefined, { id: 'booking:1' })).result().catch(() => {})
    await using visited = await visit(browser, site, 'ana', '#/runs/booking%3A1')
    await visited.page.getByRole('button', { name: 'Retry…' }).click()
    const dialog = visited.page.getByRole('dialog')
    await dialog.locator('.failure:focus', { hasText: 'booking:1' }).waitFor()
    expect(await dialog.getByRole('button', { name: 'Retry now' }).count()).toBe(0)
    await dialog.getByRole('button', { name: 'Do nothing' }).click()
    await dialog.waitFor({ state: 'hidden' })
  })

  test('what belongs to the consent to an action is not offered for an edit, and the dialog says why', async () => {
    const wire = procedure({ name: 'wire' }, async (ctx) => {
      await ctx.step('load', () => 100)
      const gated = await ctx.gate('wire', {
        params: { cents: 100 },
        policy: () => 'human',
        facts: () => 1,
        run: ({ cents }) => `wired ${cents}`,
      })
      return gated.done
    })
    await using site = await startSite({ procedures: [wire] })
    const run = await site.engine.run(wire, undefined, { id: 'wire:1' })
    const { id } = await site.engine.inbox.next({ run: 'wire:1' })
    await site.engine.inbox.answer(id, { approved: true }, { as: 'user:bob' })
    await run.result()
    await using visited = await visit(browser, site, 'ana', '#/runs/wire%3A1')
    const { page } = visited
    await page.getByRole('button', { name: 'Fork…' }).first().click()
    const dialog = page.getByRole('dialog')
    const { execution_log } = await site.engine.log('wire:1')
    const offers: Record<string, boolean> = {}
    for (const { position, name } of execution_log) {
      await dialog.getByLabel('Position').selectOption(String(position))
      const [other, why] = [dialog.getByLabel('Another result'), dialog.locator('.notice')]
      await expect.poll(async () => (await other.count()) + (await why.count())).toBe(1)
      offers[`${position} ${name}`] = (await other.count()) === 1
      if ((await why.count()) === 1) expect(await why.textContent()).toContain('consent to “wire”')
    }
    expect(offers).toEqual({
      ...{ '0 load': true, '1 wire · policy': false, '2 wire · facts': false, '3 wire · approve': false },
      ...{ '4 wire · facts': false, '5 wire': true },
    })
    calm(visited)
  })

  test('a fork with another answer is one new run, also if its reply was lost', async () => {
    const paid: number[] = []
    const limit = procedure({ name: 'limit' }, async (ctx) => {
      await ctx.step('load order', () => 'A-1')
      const schema = z.number().int().positive()
      const value = await ctx.human.input('How much?', schema, { to: 'group:support' })
      await ctx.step('pay', () => void paid.push(value))
    })
    await using site = await startSite({ procedures: [limit] })
    const run = await site.engine.run(limit, undefined, { id: 'limit:1' })
    const { id: ask } = await site.engine.inbox.next({ run: run.id })
    await site.engine.inbox.answer(ask, { value: 5 }, { as: 'user:bob' })
    await run.result()
    await using visited = await visit(browser, site, 'ana', '#/runs/limit%3A1', { bypassCSP: true })
    const { page } = visited
    await injectAxe(page)
    await page.getByRole('button', { name: 'Fork…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Fork limit:1' })
    await page.locator('#fork-place:focus').waitFor()
    await dialog.getByLabel('Position').selectOption('1')
    await dialog.getByLabel('Another result').check()
    // The form of the question, with the recorded answer.
    const value = dialog.getByLabel('Value')
    expect(await value.inputValue()).toBe('5')
    await value.fill('much')
    await value.press('Enter')
    await dialog.locator('#f-value:focus[aria-invalid="true"]').waitFor()
    expect(await dialog.locator('.issues').textContent()).toContain('must be a number')
    await value.fill('7')
    expect(await findViolations(page)).toEqual([])
    await value.press('Enter')
    await expect.poll(() => page.locator(':focus').textContent()).toBe('What will run again')
    const said = await dialog.textContent()
    expect(said).toMatch(
      /2 recorded results are kept.*Gets another result1inputMay run again: the code decides2payeffect/,
    )
    expect(await findViolations(page)).toEqual([])
    expect(await site.engine.list()).toMatchObject({ items: [{ id: 'limit:1' }] })
    const lose = async (route: Route) => {
      await route.fetch()
      await route.abort()
    }
    await page.route('**/fork', lose, { times: 1 })
    const start = dialog.getByRole('button', { name: 'Start the fork' })
    await start.click()
    await dialog.locator('.failure:focus', { hasText: 'Sending it again is safe.' }).waitFor()
    await start.click()
    await page.getByText('Fork of').waitFor()
    await page.locator('.status-completed').waitFor()
    expect(paid).toEqual([5, 7])
    expect((await site.engine.list()).items).toHaveLength(2)
    expect(visited.foreign).toEqual([])
  })

  test('a fork begins at an entry of the log, and a result without a form is edited as JSON', async () => {
    const order = procedure({ name: 'order' }, async (ctx) => {
      const { total } = await ctx.step('load order', () => ({ total: 12 }))
      return ctx.step('pay', () => `paid ${total}`)
    })
    await using site = await startSite({ procedures: [order] })
    await (await site.engine.run(order, undefined, { id: 'order:1' })).result()
    await using watching = await visit(browser, site, 'wim', '#/runs/order%3A1')
    await watching.page.locator('.entry summary', { hasText: 'load order' }).click()
    await watching.page.locator('.entry-more', { hasText: '"total": 12' }).waitFor()
    expect(await watching.page.getByRole('button', { name: 'Fork' }).count()).toBe(0)
    await using visited = await visit(browser, site, 'ana', '#/runs/order%3A1')
    const { page } = visited
    await page.locator('.entry summary', { hasText: 'load order' }).click()
    await page.getByRole('button', { name: 'Fork here… at position 0' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Another result').check()
    const json = dialog.getByRole('textbox', { name: 'Result' })
    expect(JSON.parse(await json.inputValue())).toEqual({ total: 12 })
    await json.fill('{ total')
    await dialog.getByRole('button', { name: 'Preview' }).click()
    await dialog.getByText('is not valid JSON').waitFor()
    await json.fill('{ "total": 8 }')
    await dialog.getByRole('button', { name: 'Preview' }).click()
    await dialog.getByRole('button', { name: 'Start the fork' }).click()
    await page.locator('.entry-result', { hasText: 'paid 8' }).waitFor()
    calm(visited)
  })

  test('a checkpoint is a place to fork at, also one that is not in the log', async () => {
    const report = procedure({ name: 'report', signals: { go: z.void() } }, async (ctx) => {
      await ctx.step('fetch', () => [1, 2, 6])
      await ctx.receive('go')
      return ctx.step('analyze', () => 3)
    })
    await using site = await startSite({ procedures: [report] })
    const run = await site.engine.run(report, undefined, { id: 'report:1' })
    await expect.poll(() => run.status()).toMatchObject({ status: 'waiting' })
    const checkpoint = await site.engine.checkpoints.create(run.id, { rows: 3 }, { name: 'fetched' })
    await using visited = await visit(browser, site, 'ana', '#/runs/report%3A1')
    const { page } = visited
    await page.getByRole('button', { name: 'Fork…' }).click()
    const option = page.getByRole('dialog').locator('optgroup[label="Checkpoints"] option')
    await option.waitFor({ state: 'attached' })
    expect(await option.textContent()).toMatch(/^\d+ · fetched · /)
    await page.getByLabel('Position').selectOption((await option.getAttribute('value')) ?? '')
    await page.getByRole('button', { name: 'Preview' }).click()
    await page.getByText('All recorded results are kept.').waitFor()
    const request = page.waitForRequest('**/fork')
    await page.getByRole('button', { name: 'Start the fork' }).click()
    expect((await request).postDataJSON()).toEqual({ checkpoint: checkpoint.id })
    await page.getByText('Fork of').waitFor()
    await page.locator('.status-waiting').waitFor()
    expect(await page.locator('.entry-name').allTextContents()).toEqual(['go', 'fetch'])
    calm(visited)
  })
})
