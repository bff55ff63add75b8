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

/** Everything written for people: at the root, the guides, the errors, and of each package, each example and the bench. */
export function readPages(): readonly Page[] {
  const docs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
  const folders = ['bench', 'examples', ...listFolder('packages'), ...listFolder('examples')]
  const paths = [
    ...readdirSync(root),
    ...docs.map((name) => join('docs', name)),
    ...folders.map((folder) => join(folder, 'README.md')).filter((path) => existsSync(join(root, path))),
  ]
  return paths.filter((path) => path.endsWith('.md')).map(readPage)
}

function listFolder(folder: string): readonly string[] {
  return readdirSync(join(root, folder)).map((name) => join(folder, name))
}

export function readPage(path: string): Page {
  const text = readFileSync(join(root, path), 'utf8')
  return { path, text, blocks: findBlocks(text) }
}

/** A text without its fenced blocks. */
export function proseOf(text: string): string {
  return text.replaceAll(/^```[\s\S]*?^```$/gm, '')
}

/** The fenced blocks of a page. */
function findBlocks(text: string): readonly Block[] {
  return [...text.matchAll(/^```(\S*).*\n([\s\S]*?)^```$/gm)].map((found) => ({
    language: found[1] ?? '',
    text: (found[2] ?? '').trimEnd(),
    line: text.slice(0, found.index).split('\n').length,
  }))
}
