import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Loads axe into a page whose browser ignores the CSP of the server. */
export async function injectAxe(page: Page): Promise<void> {
  await page.evaluate(axe)
}

const judge =
  'axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations.map((one) => one.id + ": " + one.nodes.map((node) => node.html + " " + node.failureSummary).join("; ")))'

/** Returns what axe finds on a page, each with the element and the reason. */
export function findViolations(page: Page): Promise<readonly string[]> {
  return page.evaluate(judge)
}
