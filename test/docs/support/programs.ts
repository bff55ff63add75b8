import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { format } from 'node:util'
import { expect, vi } from 'vitest'
import { type Block, type Page, root } from './pages.ts'

/**
 * A block of `ts`. What it prints is in the block of `text` after it. One that begins with `// name.ts` is
 * a file that later blocks of its page may import; one that imports vitest is a test.
 */
export interface Program {
  readonly page: string
  readonly line: number
  /** Its file, from the folder of all programs. */
  readonly file: string
  readonly text: string
  readonly prints: string
  readonly isTest: boolean
}

export function programsOf(page: Page): readonly Program[] {
  return page.blocks.flatMap((block, index) =>
    block.language === 'ts' ? [toProgram(page, block, page.blocks[index + 1])] : [],
  )
}

function toProgram({ path }: Page, { text, line }: Block, next: Block | undefined): Program {
  const name = /^\/\/ (\S+\.ts)\n/.exec(text)?.[1] ?? `line-${line}.ts`
  return {
    ...{ page: path, line, text },
    file: join(path.replace(/\.md$/, ''), name),
    prints: next?.language === 'text' ? next.text : '',
    isTest: /^import .* from 'vitest'$/m.test(text),
  }
}

/** Writes programs into a folder of their own, from which they can import the packages. */
export function writePrograms(programs: readonly Program[]): { readonly folder: string; remove(): void } {
  const cache = join(root, '.cache')
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, 'pages-'))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }))
  for (const { file, text } of programs) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), `${text}\n`)
  }
  return { folder, remove: () => rmSync(folder, { recursive: true }) }
}

/** Runs a program in this process, in its own folder, and compares what it prints with what its page says. */
export async function runProgram(folder: string, { file, prints }: Program): Promise<void> {
  const written: Record<'log' | 'warn' | 'error', string[]> = { log: [], warn: [], error: [] }
  const spies = (['log', 'warn', 'error'] as const).map((to) =>
    vi.spyOn(console, to).mockImplementation((...parts) => void written[to].push(format(...parts))),
  )
  const before = process.cwd()
  process.chdir(dirname(join(folder, file)))
  try {
    await import(join(folder, file))
  } finally {
    process.chdir(before)
    for (const spy of spies) spy.mockRestore()
  }
  const beside = [...written.warn, ...written.error].join('\n')
  expect(withoutChance(written.log.join('\n')), beside).toBe(withoutChance(prints))
}

/** Ids that were generated, free ports, and the time it was. */
function withoutChance(text: string): string {
  return text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'an instant')
    .replaceAll(/\b[0-9a-f]{28}\b/g, 'a generated id')
    .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:a port')
}
