import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Page, proseOf, readPage, root } from './pages.ts'

/** The links of a page within the repository that lead nowhere: to no file, or to no heading of it. */
export function findBrokenLinks({ path, text }: Page): readonly string[] {
  return [
    ...proseOf(text)
      .replaceAll(/`[^`\n]*`/g, '')
      .matchAll(/\]\(([^)\s]+)(?: "[^"]*")?\)/g),
  ]
    .map(([, link = '']) => link)
    .filter((link) => !/^(https?|mailto):/.test(link) && !isGood(path, link))
}

function isGood(from: string, link: string): boolean {
  const [file = '', anchor] = link.split('#')
  const target = file === '' ? from : join(dirname(from), file)
  if (!existsSync(join(root, target))) return false
  return anchor === undefined || anchorsOf(readPage(target)).includes(anchor)
}

/** As GitHub makes them of headings: lower case, no punctuation, a dash for each space. */
function anchorsOf({ text }: Page): readonly string[] {
  return [...proseOf(text).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}
