import { procedure } from '@pawl/core'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
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
})
