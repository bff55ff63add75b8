import { hasImage, listDrafts, readDraft } from './drafts.ts'

/** Images of a draft that are not there. */
export async function findMissingImages(slug: string): Promise<readonly string[]> {
  const { markdown } = await readDraft(slug)
  const paths = [...markdown.matchAll(/!\[[^\]]*\]\(([^)]*)\)/g)].map(([, path]) => path ?? '')
  const there = await Promise.all(paths.map(hasImage))
  return paths.filter((_, index) => !there[index]).map((path) => `there is no image ${path}`)
}

/** Slips that a reader would notice. */
const slips: { readonly [slip: string]: string } = {
  recieve: 'receive',
  seperate: 'separate',
  occured: 'occurred',
  definately: 'definitely',
  'older then': 'older than',
  'more then': 'more than',
}

export async function findSlips(slug: string): Promise<readonly string[]> {
  const { markdown } = await readDraft(slug)
  const text = markdown.toLowerCase()
  return Object.entries(slips).flatMap(([slip, right]) =>
    text.includes(slip) ? [`"${slip}" should be "${right}"`] : [],
  )
}

/** What is wrong with a page whatever it says: images without words, links that lead nowhere, headings out of order. */
export async function findFaults(html: string): Promise<readonly string[]> {
  const pages = (await listDrafts()).map((slug) => `${slug}.html`)
  const anchors = [...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => `#${id}`)
  const targets = [...html.matchAll(/<a href="([^"]*)"/g)].map(([, target]) => target ?? '')
  const dead = targets.filter(
    (target) => !/^https:\/\/./.test(target) && !pages.includes(target) && !anchors.includes(target),
  )
  const silent = [...html.matchAll(/<img src="([^"]*)" alt="\s*"/g)].map(([, path]) => path)
  return [
    ...dead.map((target) => `the link to ${target} leads nowhere`),
    ...silent.map((path) => `the image ${path} has no alternative text`),
    ...findHeadingFaults(html),
  ]
}

function findHeadingFaults(html: string): string[] {
  const levels = [...html.matchAll(/<h([1-6])/g)].map(([, level]) => Number(level))
  const titles = levels.filter((level) => level === 1).length
  const jumps = levels.filter((level, index) => level > (levels[index - 1] ?? 0) + 1)
  return [
    ...(titles === 1 ? [] : [`it has ${titles} titles`]),
    ...jumps.map((level) => `a heading of level ${level} has none above it`),
  ]
}
