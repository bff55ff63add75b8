import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readPage, root } from './support/pages.ts'

// | C-1 | fault | what comes out | [file](path): name of a test · [file](path): name of a test |
const cases = readPage('docs/reliability-cases.md')
  .text.split('\n')
  .filter((line) => /^\| [A-Z]-\d/.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, name = '', , , tests = '']) => ({ name, tests: tests.split(' · ') }))

describe('docs/reliability-cases.md', () => {
  test('has every case, and each once', () => {
    const numbers = cases.flatMap(({ name }) => name.split(', '))
    const all = Object.entries({ C: 16, D: 16, N: 15, H: 21, S: 14 })
    expect(numbers).toEqual(
      all.flatMap(([letter, count]) => Array.from({ length: count }, (_, i) => `${letter}-${i + 1}`)),
    )
  })

  test('names tests that are there, or says why there is none', () => {
    const wrong = cases.flatMap(({ name, tests }) =>
      tests.filter((one) => !isTrue(one)).map((one) => `${name}: ${one}`),
    )
    expect(wrong).toEqual([])
  })
})

function isTrue(one: string): boolean {
  const [, path, name] = /^\[[^\]]+\]\(\.\.\/([^)]+)\): (.+)$/.exec(one) ?? []
  if (path === undefined || name === undefined) return /^(Later|Not|Delegation: later)/.test(one)
  return namesIn(path).includes(name)
}

/** The text of a test file, as its names are written between quotes. */
function namesIn(path: string): string {
  return readFileSync(join(root, path), 'utf8').replaceAll("\\'", "'")
}
