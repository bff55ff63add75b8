// Writes a picture of every screen of the inbox.  usage: npm run screens [-- folder [size-scheme]]
// such as: npm run screens -- .cache/screens phone-dark
//
// The pictures in docs/guides/images are some of these: npm run screens -- --guide
import { mkdirSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { procedure } from '@pawl/core'
import type { Page } from 'playwright-core'
import { broken, procedures, ship } from '../test/inbox/support/asks.ts'
import { chromiumPath, launchBrowser } from '../test/inbox/support/browser.ts'
import buildInbox from '../test/inbox/support/build.ts'
import { postByPlan, startPlans } from '../test/inbox/support/plan.ts'
import { askAll, startSite, visit } from '../test/inbox/support/site.ts'

const isGuide = process.argv.includes('--guide')
const folder = isGuide ? 'docs/guides/images' : (process.argv[2] ?? '.cache/screens')
const only = isGuide ? undefined : process.argv[3]

interface Screen {
  readonly at: string
  readonly shows: string
  readonly prepare?: (page: Page) => Promise<void>
  /** Sizes and schemes of which the guide shows this screen. */
  readonly guide?: readonly string[]
}

const screens: Readonly<Record<string, Screen>> = {
  list: { at: '#/', shows: '.ask-row', guide: ['phone-light'] },
  approve: {
    at: '#/asks/refund%3AA-1%2F1',
    shows: '.params input',
    prepare: (page) => page.locator('.params input').fill('400'),
    guide: ['laptop-light', 'phone-dark'],
  },
  input: { at: '#/asks/onboard%3A7%2F0', shows: '.fields input' },
  select: { at: '#/asks/release%3A7%2F1', shows: '.card' },
  review: { at: '#/asks/publish%3A7%2F0', shows: '.changes', guide: ['laptop-dark'] },
  escalate: { at: '#/asks/closing%3A7%2F0', shows: '.card' },
  // It is addressed to others.
  decide: { at: '#/asks/moderate%3A7%2F0', shows: 'article > .notice' },
  closed: { at: '#/asks/refund%3AB-2%2F1', shows: '.closed' },
  runs: { at: '#/runs', shows: '.run-row' },
  run: { at: '#/runs/refund%3AB-2', shows: '.entry', guide: ['laptop-light'] },
  stuck: { at: '#/runs/ship%3A7', shows: '.side', guide: ['laptop-light'] },
  bug: { at: '#/runs/broken%3A7', shows: '.entry' },
  plan: { at: '#/runs/post%3A2', shows: '.plan', guide: ['laptop-light'] },
  undone: { at: '#/runs/post%3A1', shows: '.plan' },
  check: { at: '#/asks/post%3A2%2F7', shows: '.params' },
  workers: { at: '#/workers', shows: '.worker-head', guide: ['laptop-light'] },
  answered: { at: '#/?status=answered', shows: '.outcome' },
  confirm: {
    at: '#/asks/refund%3AA-1%2F1',
    shows: '.params input',
    prepare: async (page) => {
      await page.locator('.params input').fill('400')
      await page.getByRole('button', { name: 'Approve with changes' }).click()
      await page.locator('.confirm-act').waitFor()
    },
  },
  missing: { at: '#/asks/none', shows: '.empty-actions' },
  retrying: { at: '#/runs/calling%3A1', shows: '.last-failure' },
  parallel: { at: '#/runs/batch%3A1', shows: '.waterfall' },
  bulk: {
    at: '#/runs?status=waiting',
    shows: '.run-row',
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Cancel all…' }).click()
      await page.getByLabel('Reason').waitFor()
    },
    guide: ['laptop-light'],
  },
}
/** A step that fails again and again. */
const calling = procedure({ name: 'calling' }, (ctx) =>
  ctx.step('call partner', () => Promise.reject(new Error('503 Service Unavailable')), {
    retry: { attempts: 50, backoff: '1h', jitter: 'none' },
  }),
)
/** Steps that are at work at once. */
const batch = procedure({ name: 'batch' }, async (ctx): Promise<void> => {
  const orders = Array.from({ length: 16 }, (_, index) => `A-${1001 + index}`)
  const pay = (order: string, index: number) =>
    ctx.step(`refund ${order}`, () => new Promise<void>((done) => setTimeout(done, 200 + 40 * (index % 5))))
  await Promise.all(orders.map(pay))
  await ctx.sleep('3s')
  await ctx.step('report', () => orders.length)
})
const sizes = { laptop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } }

/** Replaces the folder and the name of this machine: a picture is the same wherever it is taken. */
async function hideMachine(page: Page): Promise<void> {
  const names = [
    [join(process.cwd(), 'test/inbox/support/'), 'src/'],
    [hostname(), 'web-1'],
  ]
  await page.evaluate(`
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    while (walker.nextNode())
      for (const [from, to] of ${JSON.stringify(names)})
        walker.currentNode.data = walker.currentNode.data.replaceAll(from, to)
  `)
}

if (chromiumPath === undefined) throw new Error('Install chromium, or set CHROMIUM to its path.')
mkdirSync(folder, { recursive: true })
await buildInbox()
const browser = await launchBrowser()
const site = await startSite({ procedures: [...procedures, broken, ship, postByPlan, calling, batch] })
await askAll(site)
await site.engine.run(calling, undefined, { id: 'calling:1' })
await (await site.engine.run(batch, undefined, { id: 'batch:1' })).result()
await startPlans(site)
for (const [size, viewport] of Object.entries(sizes))
  for (const colorScheme of ['light', 'dark'] as const) {
    await using visited = await visit(browser, site, 'ana', '#/', { viewport, colorScheme })
    for (const [name, { at, shows, prepare, guide }] of Object.entries(screens)) {
      const variant = `${size}-${colorScheme}`
      if (isGuide && !guide?.includes(variant)) continue
      if (only !== undefined && only !== variant) continue
      const { page } = visited
      await page.evaluate(`location.hash = ${JSON.stringify(at)}`)
      await page.locator(shows).first().waitFor()
      await prepare?.(page)
      await hideMachine(page)
      await page.screenshot({ path: join(folder, `inbox-${name}-${variant}.png`) })
    }
  }
await browser.close()
await site[Symbol.asyncDispose]()
console.log(`written to ${folder}`)
