import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root: string = fileURLToPath(new URL('../../../', import.meta.url))

export interface Block {
  readonly language: string
  readonly text: string
  /** Where it begins in the page, from 1. */
  readonly line: number
}

export interface Page {
  /** From the root of the repository. */
  readonly path: string
  readonly text: string
  readonly blocks: readonly Block[]
}

/** Everything written for people: the pages at the root, the guides, the errors, and what npm shows of a package. */
export function readPages(): readonly Page[] {
  const atRoot = readdirSync(root).filter((name) => name.endsWith('.md'))
  const docs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name))
  const packages = readdirSync(join(root, 'packages'))
    .map((name) => join('packages', name, 'README.md'))
    .filter((path) => existsSync(join(root, path)))
  return [...atRoot, ...docs, ...packages].map(readPage)
}

export function readPage(path: string): Page {
  const text = readFileSync(join(root, path), 'utf8')
  return { path, text, blocks: findBlocks(text) }
}

/** The fenced blocks of a page. */
export function findBlocks(text: string): readonly Block[] {
  return [...text.matchAll(/^```(\S*).*\n([\s\S]*?)^```$/gm)].map((found) => ({
    language: found[1] ?? '',
    text: (found[2] ?? '').trimEnd(),
    line: text.slice(0, found.index).split('\n').length,
  }))
}
