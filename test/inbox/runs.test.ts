import { procedure } from '@pawl/core'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { broken, job } from './support/asks.ts'
import { chromiumPath, launchBrowser } from './support/browser.ts'
import { askAll, startSite, type Visit, visit } from './support/site.ts'

describe.skipIf(chromiumPath === undefined)('the run pages in the browser', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchBrowser()
  })
  afterAll(() => browser?.close())

  const calm = ({ complaints, foreign }: Visit) =>
    expect({ complaints, foreign }).toEqual({ complaints: [], foreign: [] })

  test('show both sides of a stuck run, the place, the last attempt and the steps of the guide', async () => {
    await using site = await startSite()
    await askAll(site)
    await using visited = await visit(browser, site, 'ana', '#/runs/ship%3A7')
    const { page } = visited
    const sides = page.locator('.side')
    await sides.nth(1).waitFor()
    expect(await sides.nth(0).textContent()).toMatch(/The log says, at position 1step "pack"/)
    expect(await sides.nth(1).textContent()).toMatch(/The code didstep "wrap".*asks\.ts:\d+:\d+/)
    const box = await page.locator('.error-box').textContent()
    expect(box).toMatch(/Last tried \d+ sec ago\./)
    expect(box).toContain('keep it as version 1, and give the changed code version 2')
    expect(await page.getByRole('button', { name: 'Retry now' }).count()).toBe(1)
    calm(visited)
  })

  test('retry a run once its code is fixed', async () => {
    let isBroken = true
    const fixable = procedure({ name: 'fixable' }, async (): Promise<void> => {
      if (isBroken) throw new TypeError('no files')
    })
    await using site = await startSite({ procedures: [fixable] })
    await (await site.engine.run(fixable, undefined, { id: 'fixable:1' })).result().catch(() => {})
    await using visited = await visit(browser, site, 'ana', '#/runs/fixable%3A1')
    const { page } = visited
    await page.locator('.status-stuck').waitFor()
    isBroken = false
    await page.getByRole('button', { name: 'Retry now' }).click()
    await page.locator('.status-completed').waitFor()
    expect(await page.getByRole('button', { name: 'Retry now' }).count()).toBe(0)
    calm(visited)
  })

  test('retry a failed run, and name the origin of a fork', async () => {
    let isDown = true
    const paying = procedure({ name: 'paying' }, (ctx) =>
      ctx.step('pay', () => (isDown ? Promise.reject(new Error('it is down')) : 'paid'), { retry: false }),
    )
    await using site = await startSite({ procedures: [paying] })
    await (await site.engine.run(paying, undefined, { id: 'paying:1' })).result().catch(() => {})
    await (await site.engine.fork('paying:1', { position: 0 }, { id: 'fork:1' })).result().catch(() => {})
    isDown = false
    await using visited = await visit(browser, site, 'ana', '#/runs/fork%3A1')
    const { page } = visited
    await page.locator('.meta', { hasText: 'at position 0' }).waitFor()
    await page.getByRole('button', { name: 'Retry…' }).click()
    await page.getByRole('button', { name: 'Retry now' }).click()
    await page.locator('.status-completed').waitFor()
    await page.getByRole('link', { name: 'paying:1' }).click()
    await page.locator('.status-failed').waitFor()
    calm(visited)
  })

  test('cancel a run with a reason, after a second act', async () => {
    await using site = await startSite({ procedures: [job] })
    const run = await site.engine.run(job, undefined, { id: 'job:1' })
    await using visited = await visit(browser, site, 'ana', '#/runs/job%3A1')
    const { page } = visited
    await page.getByRole('button', { name: 'Cancel run' }).click()
    await page.getByLabel('Reason').fill('customer called')
    expect(await run.status()).toMatchObject({ cancelRequestedAt: undefined })
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel run' }).click()
    await page.locator('.status-cancelled').waitFor()
    await page.getByText(/Cancel requested .* ago by user:ana: customer called/).waitFor()
    calm(visited)
  })

  test('show the children of a run, those of a child when it is opened, and the way back', async () => {
    const leaf = procedure({ name: 'leaf' }, async () => 'leaf')
    const branch = procedure({ name: 'branch' }, (ctx) => ctx.call(leaf, undefined, { id: 'leaf:1' }))
    const tree = procedure({ name: 'tree' }, (ctx) => ctx.call(branch, undefined, { id: 'branch:1' }))
    await using site = await startSite({ procedures: [leaf, branch, tree] })
    await (await site.engine.run(tree, undefined, { id: 'tree:1' })).result()
    await using visited = await visit(browser, site, 'ana', '#/runs/tree%3A1')
    const { page } = visited
    const children = page.locator('.children')
    await children.getByRole('link', { name: 'branch:1' }).waitFor()
    expect(await children.textContent()).toContain('1 completed')
    expect(await children.getByRole('link', { name: 'leaf:1' }).count()).toBe(0)
    await children.getByRole('button', { name: 'Children of branch:1' }).click()
    await children.getByRole('link', { name: 'leaf:1' }).click()
    await page.getByRole('heading', { name: 'leaf:1' }).waitFor()
    await page.getByRole('link', { name: 'branch:1' }).click()
    await page.getByRole('heading', { name: 'branch:1' }).waitFor()
    calm(visited)
  })

  test('show the children that have failed first, also those of a later page', async () => {
    const leaf = procedure({ name: 'leaf', input: z.number() }, async (_ctx, number) => {
      if (number === 3) throw new Error('no leaf')
    })
    const tree = procedure({ name: 'tree' }, async (ctx): Promise<void> => {
      for (let number = 0; number < 60; number += 1)
        await ctx.call(leaf, number, { id: `leaf:${number}` }).catch(() => {})
    })
    await using site = await startSite({ procedures: [leaf, tree] })
    await (await site.engine.run(tree, undefined, { id: 'tree:1' })).result()
    await using visited = await visit(browser, site, 'ana', '#/runs/tree%3A1')
    const { page } = visited
    await expect.poll(() => page.locator('.branch').count()).toBe(51)
    const first = page.locator('.branch').first()
    expect(await first.textContent()).toContain('leaf:3')
    expect(await page.locator('.branch', { hasText: /leaf:3leaf/ }).count()).toBe(1)
    calm(visited)
  })

  test('show the generation, and what the run exposes while it changes', async () => {
    const campaign = procedure(
      {
        ...{ name: 'campaign', input: z.object({ round: z.number() }), signals: { end: z.void() } },
        state: { title: z.string() },
        updates: { rename: { input: z.string(), output: z.void() } },
      },
      async (ctx, { round }): Promise<void> => {
        ctx.expose('title', 'Spring sale')
        ctx.on('rename', (name) => ctx.expose('title', name))
        if (round === 0) return ctx.continueAs({ round: 1 })
        await ctx.receive('end')
      },
    )
    await using site = await startSite({ procedures: [campaign] })
    const run = await site.engine.run(campaign, { round: 0 }, { id: 'campaign:7' })
    await using visited = await visit(browser, site, 'ana', '#/runs/campaign%3A7')
    const { page } = visited
    await page.locator('.meta', { hasText: 'Generation 2' }).waitFor()
    const state = page.locator('.params')
    await state.getByText('Spring sale').waitFor()
    await run.update('rename', 'Summer sale')
    await state.getByText('Summer sale').waitFor()
    expect(await state.textContent()).toBe('titleSummer sale')
    calm(visited)
  })

  test('show why a step is tried again, its attempts, and when the next is due', async () => {
    const calling = procedure({ name: 'calling' }, (ctx) =>
      ctx.step('call partner', () => Promise.reject(new Error('503 Service Unavailable')), {
        retry: { attempts: 50, backoff: '1h', jitter: 'none' },
      }),
    )
    await using site = await startSite({ procedures: [calling] })
    await site.engine.run(calling, undefined, { id: 'calling:1' })
    await using visited = await visit(browser, site, 'ana', '#/runs/calling%3A1')
    const { page } = visited
    await page.locator('.run-head .status-retrying', { hasText: 'Retrying' }).waitFor()
    expect(await page.locator('.waiting').textContent()).toMatch(
      /Attempt \d+ failed: 503 Service Unavailable/,
    )
    const entry = page.locator('.entry', { hasText: 'next attempt in' })
    await entry.waitFor()
    expect(await entry.locator('summary').textContent()).toContain('503 Service Unavailable')
    await entry.locator('summary').click()
    expect(await entry.locator('.attempts li').first().textContent()).toMatch(/^Attempt \d+ · .*503/)
    calm(visited)
  })

  test('show what a run was given and what it has returned', async () => {
    const input = z.object({ order: z.string(), note: z.string() })
    const paying = procedure({ name: 'paying', input }, (ctx, { order }) =>
      ctx.step('pay', () => `paid ${order}`),
    )
    await using site = await startSite({ procedures: [paying] })
    await (await site.engine.run(paying, { order: 'A-1', note: 'gift' }, { id: 'paying:1' })).result()
    const large = { order: 'A-2', note: 'x'.repeat(70_000) }
    await (await site.engine.run(paying, large, { id: 'paying:2' })).result()
    await using visited = await visit(browser, site, 'ana', '#/runs/paying%3A1')
    const { page } = visited
    await page.locator('.run-output', { hasText: 'paid A-1' }).waitFor()
    expect(await page.locator('.run-input').textContent()).toBe('InputorderA-1notegift')
    await page.goto(page.url().replace('paying%3A1', 'paying%3A2'))
    await page.locator('.run-output', { hasText: 'paid A-2' }).waitFor()
    expect(await page.locator('.run-input').textContent()).toContain('More than 64 KiB')
    calm(visited)
  })

  test('offer neither retry nor cancel to a role that may only watch, and say what the server refuses', async () => {
    await using site = await startSite({ may: (_who, verb) => verb === 'see' })
    await askAll(site)
    await using watching = await visit(browser, site, 'wim', '#/runs/ship%3A7')
    await watching.page.locator('.side').first().waitFor()
    expect(await watching.page.locator('.run-actions button').count()).toBe(0)

    await using refused = await visit(browser, site, 'ana', '#/runs/ship%3A7')
    await refused.page.getByRole('button', { name: 'Retry now' }).click()
    await refused.page.locator('.failure', { hasText: 'user:ana may not retry run ship:7.' }).waitFor()
  })

  test('act on all runs of a filter: the count comes first, and each refusal is named', async () => {
    await using site = await startSite({
      procedures: [job, broken],
      may: (_who, verb, { id }) => verb === 'see' || id !== 'job:2',
    })
    const runs = await Promise.all(
      [1, 2, 3].map((one) => site.engine.run(job, undefined, { id: `job:${one}`, tags: ['batch 7'] })),
    )
    const other = await site.engine.run(job, undefined, { id: 'job:other' })
    for (const run of [...runs, other])
      await expect.poll(() => run.status()).toMatchObject({ status: 'waiting' })
    await using visited = await visit(browser, site, 'ana', '#/runs')
    const { page } = visited
    await page.locator('.run-row').first().waitFor()
    expect(await page.getByRole('button', { name: 'Cancel all…' }).count()).toBe(0)
    await page.getByRole('searchbox', { name: 'Tag' }).fill('batch 7')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.locator('.run-row').count()).toBe(3)
    await page.getByRole('button', { name: 'Cancel all…' }).click()
    await page.getByRole('heading', { name: 'Cancel 3 runs?' }).waitFor()
    await page.getByText('Status: All · Tag: batch 7').waitFor()
    // A run that starts after the count is not touched.
    const late = await site.engine.run(job, undefined, { id: 'job:late', tags: ['batch 7'] })
    await page.getByLabel('Reason').fill('wrong batch')
    await page.keyboard.press('Enter')
    expect(await runs[0]?.status()).toMatchObject({ cancelRequestedAt: undefined })
    await page.getByLabel('Type 3 to confirm').fill('3')
    await page.getByRole('button', { name: 'Cancel 3 runs' }).click()
    await page.getByText('Cancel requested for 2, 1 refused.').first().waitFor()
    expect(await page.locator('.refused').textContent()).toMatch(/job:2user:ana may not cancel run job:2\./)
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()
    expect(await runs[0]?.status()).toMatchObject({ cancelReason: 'wrong batch' })
    for (const one of [other, late])
      expect(await one.status()).toMatchObject({ cancelRequestedAt: undefined })
    await expect.poll(() => page.locator('.status-cancelled').count()).toBe(2)
    calm(visited)
  })

  test('leave out a page of the list that arrives after the filter has changed', async () => {
    await using site = await startSite({ procedures: [job] })
    for (let index = 0; index < 51; index++)
      await site.engine.run(job, undefined, { id: `job:${index}`, tags: index === 7 ? ['batch 7'] : [] })
    await using visited = await visit(browser, site, 'ana', '#/runs')
    const { page } = visited
    const rows = page.locator('.run-row')
    await expect.poll(() => rows.count()).toBe(50)
    let release = (): void => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route(/cursor=/, (route) => released.then(() => route.continue()))
    const asked = page.waitForRequest(/cursor=/)
    await page.getByRole('button', { name: 'Load more' }).click()
    await asked
    await page.getByRole('searchbox', { name: 'Tag' }).fill('batch 7')
    await page.keyboard.press('Enter')
    await expect.poll(() => rows.count()).toBe(1)
    const late = page.waitForResponse(/cursor=/)
    release()
    await (await late).finished()
    // What the page has read is shown two frames later.
    await page.evaluate(
      'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))',
    )
    expect(await rows.allTextContents()).toEqual([expect.stringContaining('job:7')])
    calm(visited)
  })

  test('keep what is being typed into a filter when the list is refreshed', async () => {
    const quick = procedure({ name: 'quick' }, async () => 'done')
    await using site = await startSite({ procedures: [job, quick] })
    await site.engine.run(job, undefined, { id: 'job:1', tags: ['batch 7'] })
    await site.engine.run(job, undefined, { id: 'job:2' })
    await using visited = await visit(browser, site, 'ana', '#/runs')
    const { page } = visited
    await expect.poll(() => page.locator('.run-row').count()).toBe(2)
    await page.getByRole('searchbox', { name: 'Tag' }).pressSequentially('batch ')
    // Its end rings, and the list says that there is a new run.
    await site.engine.run(quick, undefined, { id: 'quick:1' })
    await page.getByRole('button', { name: '1 new' }).waitFor()
    await page.keyboard.type('7')
    await page.keyboard.press('Enter')
    await expect
      .poll(() => page.locator('.run-row').allTextContents())
      .toEqual([expect.stringContaining('job:1')])
    calm(visited)
  })

  test('list the live workers with their procedures, and say so when there is none', async () => {
    await using site = await startSite({ procedures: [job, broken] })
    await site.engine.run(job, undefined, { id: 'job:1' })
    await using visited = await visit(browser, site, 'wim')
    const { page } = visited
    await page.getByRole('link', { name: 'Workers' }).click()
    await page.locator('.worker-head', { hasText: 'Alive' }).waitFor()
    const text = await page.locator('.workers').textContent()
    expect(text).toMatch(/Started \d+ sec ago/)
    expect(text).toMatch(/Last seen \d+ sec ago/)
    expect(text).toContain('job v1')
    expect(text).toContain('broken v1')
    await page.route('**/v1/workers', (route) => route.fulfill({ json: { items: [] } }))
    await page.reload()
    await page.getByText('No worker is alive').waitFor()
    calm(visited)
  })
})
