import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))
const pages = readdirSync(join(root, 'docs/errors')).map((file) => ({
  code: file.replace(/\.md$/, ''),
  text: readFileSync(join(root, 'docs/errors', file), 'utf8'),
}))
const cache = join(root, '.cache')
let folder = ''

beforeAll(() => {
  mkdirSync(cache, { recursive: true })
  folder = mkdtempSync(join(cache, 'error-pages-'))
  for (const { code, text } of pages) writeFileSync(join(folder, `${code}.ts`), blockOf(text, 'ts'))
})
afterAll(() => rmSync(folder, { recursive: true }))

test('the programs on the pages are type-correct', async () => {
  const config = { extends: '../../tsconfig.test.json', include: ['*.ts'] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }))
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const run = promisify(execFile)(process.execPath, [compiler, '--pretty', 'false', '-p', '.'], {
    cwd: folder,
  })
  const { stdout } = await run.catch((failed: { readonly stdout: string }) => failed)
  const ours = stdout.split(/\n(?=\S)/).filter((message) => /^[a-z-]+\.ts\(/.test(message))
  expect(ours).toEqual([])
})

describe.each(pages)('the page of $code', ({ code, text }) => {
  test('says when, shows it, and tells what happens meanwhile and what to do', () => {
    expect(text.match(/^#+ .*$/gm)).toEqual([
      `# ${code}`,
      '## Example',
      '## What happens meanwhile',
      '## What to do',
    ])
    for (const section of text.split(/^#+ .*$/m).slice(1)) expect(section.trim()).not.toBe('')
  })

  test('prints what it says it prints', async () => {
    const printed: unknown[] = []
    const log = vi.spyOn(console, 'log').mockImplementation((...parts) => {
      printed.push(parts.join(' '))
    })
    try {
      await import(join(folder, `${code}.ts`))
    } finally {
      log.mockRestore()
    }
    expect(withoutInstants(printed.join('\n'))).toBe(withoutInstants(blockOf(text, 'text')))
  })
})

/** The one code block of that language. */
function blockOf(text: string, language: string): string {
  const [block, ...more] = [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)\\n\`\`\`$`, 'gms'))]
  if (block?.[1] === undefined || more.length > 0) throw new Error(`there must be one block of ${language}`)
  return block[1]
}

function withoutInstants(text: string): string {
  return text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'an instant')
}
