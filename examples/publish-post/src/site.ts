import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { FinalError } from '@pawl/core'
import { appendLine, readLines, replaceLines } from '../../shared/src/json-lines.ts'
import { findFaults } from './checks.ts'
import { escapeHtml } from './markdown.ts'

/** A line of the feed, of the announcements or of the sitemap. */
interface Line {
  readonly slug: string
  readonly text: string
  /** Whose effect it is: the same one is not written twice. */
  readonly key: string
}

/** What can be seen of a post from outside. */
export interface Sight {
  readonly live: boolean
  readonly inFeed: boolean
  readonly announced: boolean
  readonly inSitemap: boolean
  readonly faults: readonly string[]
}

/** The outside world: a folder with pages, a feed, announcements and a sitemap. */
export const site = {
  preview: (slug: string, html: string): Promise<string> => writePage(`preview-${slug}.html`, slug, html),

  publish: (slug: string, title: string, html: string): Promise<string> =>
    writePage(`${slug}.html`, title, html),

  addToFeed: (slug: string, title: string, key: string): Promise<void> =>
    appendOnce('feed.jsonl', { slug, text: title, key }),

  announce: (slug: string, text: string, key: string): Promise<void> =>
    appendOnce('announcements.jsonl', { slug, text, key }),

  addToSitemap: (slug: string, url: string, key: string): Promise<void> =>
    appendOnce('sitemap.jsonl', { slug, text: url, key }),

  /** Removes all but the announcement, which cannot be unsaid. @throws FinalError if the post must not be removed */
  async takeBack(slug: string): Promise<void> {
    const holds = await read('legal-holds.txt')
    if (holds.split('\n').includes(slug))
      throw new FinalError(`${slug} is under a legal hold`, { code: 'legal-hold' })
    await rm(fileOf(`${slug}.html`), { force: true })
    for (const name of ['feed.jsonl', 'sitemap.jsonl']) {
      const lines = await readLines<Line>(fileOf(name))
      if (lines.some((line) => line.slug === slug))
        await replaceLines(
          fileOf(name),
          lines.filter((line) => line.slug !== slug),
        )
    }
  },

  async look(slug: string): Promise<Sight> {
    const html = await read(`${slug}.html`)
    const has = async (file: string) =>
      (await readLines<Line>(fileOf(file))).some((line) => line.slug === slug)
    return {
      live: html !== '',
      inFeed: await has('feed.jsonl'),
      announced: await has('announcements.jsonl'),
      inSitemap: await has('sitemap.jsonl'),
      faults: await findFaults(html),
    }
  },

  async countPosts(): Promise<number> {
    return (await readLines(fileOf('feed.jsonl'))).length
  },

  showOnDashboard: (posts: number): Promise<void> => write('dashboard.txt', `${posts} posts are online\n`),
}

function fileOf(name: string): string {
  return join(process.env['PUBLISH_SITE'] || '.pawl/site', name)
}

async function writePage(file: string, title: string, html: string): Promise<string> {
  await write(file, `<!doctype html>\n<meta charset="utf-8">\n<title>${escapeHtml(title)}</title>\n${html}\n`)
  return fileOf(file)
}

async function write(file: string, text: string): Promise<void> {
  await mkdir(fileOf(''), { recursive: true })
  await writeFile(fileOf(file), text)
}

function read(file: string): Promise<string> {
  return readFile(fileOf(file), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
}

/** An effect that is repeated after a crash has the same key as the first time, and does nothing. */
async function appendOnce(name: string, line: Line): Promise<void> {
  const lines = await readLines<Line>(fileOf(name))
  if (!lines.some(({ key }) => key === line.key)) await appendLine(fileOf(name), line)
}
