import { decider } from '@pawl/core'
import type { Sight } from './site.ts'

/** What the editor is shown. */
export interface Quality {
  /** Wrong whatever one thinks of it. */
  readonly faults: readonly string[]
  /** Perhaps wrong: a matter of judgement. */
  readonly doubts: readonly string[]
}

/** Sure of what can be counted, and unsure about language. A model would be asked here. */
export const editor = decider('editor', async ({ material }) => {
  const { faults, doubts } = material as Quality
  if (faults.length > 0) return { choice: 'reject', rationale: faults.join('; '), confidence: 0.95 }
  if (doubts.length > 0)
    return { choice: 'approve', rationale: `perhaps ${doubts.join('; ')}`, confidence: 0.5 }
  return { choice: 'approve', rationale: 'images, links and headings are in order', confidence: 0.95 }
})

export const verifier = decider('verifier', async ({ material }) => {
  const { live, inFeed, announced, inSitemap, faults } = material as Sight
  const missing = Object.entries({ live, inFeed, announced, inSitemap }).filter(([, there]) => !there)
  const wrong = [...missing.map(([what]) => `not ${what}`), ...faults]
  if (wrong.length > 0) return { choice: 'broken', rationale: wrong.join('; '), confidence: 1 }
  return { choice: 'ok', rationale: 'live, in the feed, announced, in the sitemap', confidence: 1 }
})
