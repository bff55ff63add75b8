// Writes docs/reference from the docstrings of the public types.  usage: npm run docs:reference [-- --check]
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createFinder } from './find.ts'
import { formatPages } from './format.ts'
import { pages } from './pages.ts'
import { renderPage } from './render.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const folder = join(root, 'docs/reference')
const find = createFinder(root)
const isCheck = process.argv.includes('--check')

const stale: string[] = []
const texts = formatPages(
  root,
  pages.map((page) => renderPage(page, find)),
)
for (const [index, page] of pages.entries()) {
  const file = join(folder, page.file)
  const text = texts[index] as string
  if (existsSync(file) && readFileSync(file, 'utf8') === text) continue
  stale.push(page.file)
  if (isCheck) continue
  mkdirSync(folder, { recursive: true })
  writeFileSync(file, text)
}
const expected = new Set(['README.md', ...pages.map(({ file }) => file)])
const strange = readdirSync(folder).filter((name) => !expected.has(name))

for (const name of stale)
  console.log(`${isCheck ? 'differs from the docstrings' : 'written'}: docs/reference/${name}`)
for (const name of strange) console.log(`not in scripts/reference/pages.ts: docs/reference/${name}`)
if (isCheck && stale.length > 0) console.log('Run `npm run docs:reference`.')
if ((isCheck && stale.length > 0) || strange.length > 0) process.exitCode = 1
