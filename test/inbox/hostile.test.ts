import { type Procedure, procedure } from '@pawl/core'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { chromiumPath, launchBrowser } from './support/browser.ts'
import { startSite, visit } from './support/site.ts'

const outside = 'https://evil.example'
const hostile = [
  `<script>window.hacked = 1</script><img src=x onerror="window.hacked = 2"><img src="${outside}/a.png">`,
  `<svg onload="window.hacked = 3"></svg><iframe srcdoc="<script>parent.hacked = 4</script>"></iframe>`,
  `[click](javascript:window.hacked=5) ![pixel](${outside}/b.png) <${outside}/c> [x](data:text/html,<script>1</script>)`,
  `</textarea></pre></style><style>@import "${outside}/d.css"</style><link rel=stylesheet href="${outside}/e.css">`,
  `pay \u202eRUE 1\u202c \u200b\u2066now\u2069 \u0000\u0007 {amount} %s __proto__`,
].join('\n\n')
/** Where a name has at most 200 characters. */
const brief = `"><img src=x onerror="window.hacked = 8"><img src=${outside}/f>\u202e\u200b`
const id = `x/<img src=x onerror=window.hacked=6>?#%2F..`

const text = { default: hostile, description: hostile, title: hostile }

const everywhere: Procedure<undefined, string> = procedure(
  { name: '<b onclick=window.hacked=7>"p"', output: z.string() },
  async (ctx) => {
    await ctx.step(brief, () => ({ [hostile]: hostile, nested: [{ a: [hostile] }] }))
    const common = {
      to: [`group:${brief}`] as const,
      details: (['text', 'markdown', 'json', 'code', 'table', 'diff', 'image'] as const).map((as) => ({
        title: hostile,
        body: as === 'table' ? [{ [hostile]: hostile }] : hostile,
        as,
      })),
      links: [{ label: hostile, url: `${outside}/?<script>` }],
      alternatives: [{ label: hostile, description: hostile }],
      risk: { level: 'high', reasons: [hostile], impact: { affects: hostile, currency: hostile, amount: 1 } },
    } as const
    const choices = [{ value: 'a', label: hostile, effect: hostile }, 'b'] as const
    await Promise.all([
      ctx.human.approve(`approve ${hostile}`, {
        ...common,
        params: { [hostile]: hostile, text: hostile, list: [hostile], data: { [hostile]: 1 } },
        editable: ['text', hostile],
      } as never),
      ctx.human.input(
        `input ${hostile}`,
        z.object({
          [hostile]: z.string().meta(text),
          pick: z.enum([hostile, 'b']),
          one: z.union([
            z.object({ kind: z.literal(hostile), a: z.string() }),
            z.object({ kind: z.literal('b') }),
          ]),
          map: z.record(z.string(), z.string()).default({ [hostile]: hostile }),
        }) as never,
        common as never,
      ),
      ctx.human.select(`select ${hostile}`, choices, common as never),
      ctx.human.review(`review ${hostile}`, hostile, {
        ...common,
        as: 'markdown',
        baseline: `${hostile}!`,
        editable: true,
      } as never),
      ctx.human.escalate(`escalate ${hostile}`, {
        ...common,
        choices,
        error: new Error(hostile),
      } as never),
    ])
    throw new Error(hostile)
  },
)

describe.skipIf(chromiumPath === undefined)('texts from outside', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchBrowser()
  })
  afterAll(() => browser?.close())

  test('texts from outside run no script and cause no request, on any screen', async () => {
    await using site = await startSite({ procedures: [everywhere] })
    const run = await site.engine.run(everywhere, undefined, {
      id,
      tags: [brief],
      by: `user:${brief}`,
    })
    await site.engine.inbox.next({ run: run.id })
    const { items } = await site.engine.inbox.list({ run: run.id })
    expect(items).toHaveLength(5)
    await using visited = await visit(browser, site, 'bob', '#/?whose=all')
    const { page, complaints, foreign } = visited
    const calm = async () => {
      expect(await page.evaluate('window.hacked')).toBeUndefined()
      expect(foreign).toEqual([])
      expect(
        await page.locator('#app :is(script, iframe, style, link, img, object, embed, base)').count(),
      ).toBe(0)
      expect(
        await page.locator('#app a:not([href^="#"], [href^="https://"], [href^="mailto:"])').count(),
      ).toBe(0)
    }
    await page.locator('.ask-row').first().waitFor()
    await calm()
    for (const ask of items) {
      await page.evaluate(`location.hash = ${JSON.stringify(`#/asks/${encodeURIComponent(ask.id)}`)}`)
      await page.locator('h1', { hasText: ask.kind }).waitFor()
      await page.locator('.mark', { hasText: 'U+202E' }).first().waitFor()
      for (const view of ['Text', 'Changes', 'Edit'])
        for (const button of await page.getByRole('button', { name: view, exact: true }).all())
          await button.click()
      for (const button of await page.getByRole('button', { name: 'Show all' }).all()) await button.click()
      for (const one of await page.locator('summary').all()) await one.click()
      await calm()
    }
    for (const { id: ask, kind } of items) {
      const answer =
        kind === 'approve'
          ? { approved: false as const, comment: hostile }
          : kind === 'input'
            ? null
            : { choice: kind === 'review' ? 'reject' : 'a', comment: hostile }
      if (answer !== null) await site.engine.inbox.answer(ask, answer, { as: `user:${brief}` })
    }
    await page.locator('.closed').waitFor()
    await calm()
    for (const at of ['#/runs', `#/runs/${encodeURIComponent(id)}`, '#/workers']) {
      await page.evaluate(`location.hash = ${JSON.stringify(at)}`)
      await page.locator('.run-row, .entry, .worker-head').first().waitFor()
      for (const one of await page.locator('summary').all()) await one.click()
      await calm()
    }
    expect(complaints).toEqual([])
  })
})
