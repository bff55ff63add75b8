import { decider } from '@pawl/core'

/** Reads the results it is shown. In a real program this is a model. */
export const editor = decider('editor', async ({ material }) => {
  const isFine = !JSON.stringify(material).includes('broken')
  return {
    choice: isFine ? 'ok' : 'failed',
    rationale: isFine ? 'reads well' : 'a page is broken',
    confidence: 1,
  }
})
