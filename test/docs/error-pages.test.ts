import { describe, expect, test } from 'vitest'
import { readPages } from './support/pages.ts'
import { runPages } from './support/run-pages.ts'

// The codes of the server have one page, without programs.
const pages = readPages().filter(
  ({ path }) => path.startsWith('docs/errors/') && path !== 'docs/errors/server.md',
)

describe.each(pages)('$path', ({ path, text, blocks }) => {
  test('the page $path shows an example, the meanwhile and the remedy', () => {
    const code = path.slice('docs/errors/'.length, -'.md'.length)
    const headings = [`# ${code}`, '## Example', '## What happens meanwhile', '## What to do']
    expect(text.match(/^#+ .*$/gm)).toEqual(headings)
    for (const section of text.split(/^#+ .*$/m).slice(1)) expect(section.trim()).not.toBe('')
    expect(blocks.map(({ language }) => language)).toEqual(['ts', 'text'])
  })
})

runPages(pages)
