import { access, readdir, readFile } from 'node:fs/promises'
import { FinalError } from '@pawl/core'

const data = new URL('data/', import.meta.resolve('@pawl/example-publish-post/package.json'))

export interface Draft {
  readonly title: string
  readonly markdown: string
}

/** @throws FinalError if there is no such draft: a retry would not find it either */
export async function readDraft(slug: string): Promise<Draft> {
  const known = await listDrafts()
  if (!known.includes(slug))
    throw new FinalError(`there is no draft "${slug}"; there are ${known.join(', ')}`, { code: 'no-draft' })
  const markdown = await readFile(new URL(`drafts/${slug}.md`, data), 'utf8')
  return { title: /^# (.+)$/m.exec(markdown)?.[1] ?? slug, markdown }
}

export async function listDrafts(): Promise<readonly string[]> {
  const files = await readdir(new URL('drafts/', data))
  return files.filter((file) => file.endsWith('.md')).map((file) => file.slice(0, -'.md'.length))
}

/** Whether a page can show it, such as `images/harbour.svg`. */
export async function hasImage(path: string): Promise<boolean> {
  return access(new URL(path, data)).then(
    () => true,
    () => false,
  )
}
