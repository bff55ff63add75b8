import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { commandsIn, commandsOf, isCommand } from './support/commands.ts'
import { findBrokenLinks } from './support/links.ts'
import { readPage, readPages, root } from './support/pages.ts'
import { tryPatch } from './support/patches.ts'
import { programsOf, writePrograms } from './support/programs.ts'

const pages = readPages()
const blocks = pages.flatMap((page) => page.blocks.map((block) => ({ ...block, page: page.path })))

test('the programs on the pages are type-correct', async () => {
  const { folder, remove } = writePrograms(pages.flatMap(programsOf))
  const config = { extends: '../../tsconfig.test.json', include: ['**/*.ts'] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const run = promisify(execFile)(process.execPath, [compiler, '--pretty', 'false', '-p', '.'], {
    cwd: folder,
  })
  const { stdout } = await run.catch((failed: { readonly stdout: string }) => failed)
  remove()
  // What lies outside the folder is the business of `npm run check`.
  const ours = stdout.split(/\n(?=\S)/).filter((message) => /^[^.]\S*\.ts\(/.test(message))
  expect(ours).toEqual([])
})

/** The files that the blocks of a page are. */
function namesOn(page: string): readonly string[] {
  return blocks.flatMap((block) =>
    block.page === page ? (/^\/\/ (\S+\.ts)\n/.exec(block.text)?.[1] ?? []) : [],
  )
}

test('the commands on the pages exist', () => {
  const wrong = blocks
    .filter(({ language }) => language === 'sh')
    .flatMap(({ page, line, text }) => commandsOf(text).map((command) => ({ page, line, command })))
    .filter(({ page, command }) => !isCommand(command, namesOn(page)))
  expect(wrong).toEqual([])
})

test('the commands in the sentences of the pages exist', () => {
  const named = pages.flatMap(({ path, text }) => commandsIn(text).map((command) => ({ path, command })))
  expect(named.length).toBeGreaterThan(50)
  expect(named.filter(({ path, command }) => !isCommand(command, namesOn(path)))).toEqual([])
})

test('the patches on the pages fit the code', async () => {
  for (const { path, blocks: ofPage } of pages) {
    const patches = ofPage.filter(({ language }) => language === 'diff').map(({ text }) => text)
    if (patches.length > 0) expect(await tryPatch(patches.join('\n')), path).toBe('')
  }
})

test('every block is of a language that is checked', () => {
  const unknown = blocks.filter(({ language }) => !['ts', 'text', 'sh', 'diff', 'sql'].includes(language))
  expect(unknown).toEqual([])
})

test('what is not in this release stands in the README, and other pages link to it', () => {
  const denials = pages.flatMap(({ path, text }) =>
    (path === 'README.md' ? [] : text.split('\n'))
      .map((line) => line.replaceAll(/\[not in this release\]\(\S*README\.md#limitations\)/g, ''))
      .filter((line) =>
        /\bthis (release|version) (has|is|can|does)|\b(not|no) .*in this release|not there yet/i.test(line),
      )
      .map((line) => `${path}: ${line.slice(0, 100)}`),
  )
  expect(denials).toEqual([])
})

test('links lead to files and headings that are there', () => {
  expect(pages.flatMap((page) => findBrokenLinks(page).map((link) => `${page.path}: ${link}`))).toEqual([])
})

test.each([
  ['docs', /^(guides|errors|reports)\/.*\.md$|^reference\/README\.md$/],
  ['docs/reference', /^(?!README).*\.md$/],
])('the index of %s names every page', (folder, indexed) => {
  const { text: index } = readPage(`${folder}/README.md`)
  const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).filter((name) =>
    indexed.test(name),
  )
  expect(names.length).toBeGreaterThan(5)
  expect(names.filter((name) => !index.includes(`(${name})`))).toEqual([])
})

test('the addresses in messages lead to pages', () => {
  const sources = readdirSync(join(root, 'packages'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    /^[^/]+\/src\/.*\.ts$/.test(name),
  )
  const named = sources.flatMap((name) =>
    [...readFileSync(join(root, 'packages', name), 'utf8').matchAll(/docsPage\('([^']+)'\)/g)].map(
      ([, page = '']) => page,
    ),
  )
  expect(new Set(named)).toContain('guides/sqlite')
  expect(named.filter((page) => !existsSync(join(root, 'docs', `${page}.md`)))).toEqual([])
})
