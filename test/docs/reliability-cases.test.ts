import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync, visitorKeys } from 'oxc-parser'
import { describe, expect, test } from 'vitest'
import { readPage, root } from './support/pages.ts'

// | C-1 | fault | outcome | [file](path "name of a test") · [file](path "name of a test") |
const cases = readPage('docs/reports/reliability-cases.md')
  .text.split('\n')
  .filter((line) => /^\| [A-Z]-\d/.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, name = '', , , tests = '']) => ({ name, tests: tests.split(' · ') }))

describe('docs/reports/reliability-cases.md', () => {
  test('the report on reliability has every case exactly once', () => {
    const numbers = cases.flatMap(({ name }) => name.split(', '))
    const all = Object.entries({ C: 16, D: 16, N: 15, H: 21, S: 14 })
    expect(numbers).toEqual(
      all.flatMap(([letter, count]) => Array.from({ length: count }, (_, i) => `${letter}-${i + 1}`)),
    )
  })

  test('the report on reliability names existing tests, or states why a case has none', () => {
    const wrong = cases.flatMap(({ name, tests }) =>
      tests.filter((one) => !isTrue(one)).map((one) => `${name}: ${one}`),
    )
    expect(wrong).toEqual([])
  })
})

function isTrue(one: string): boolean {
  const [, path, name] = /^\[[^\]]+\]\(\.\.\/\.\.\/(\S+) "(.+)"\)$/.exec(one) ?? []
  if (path === undefined || name === undefined) return /^(Later|Not|Delegation: later)/.test(one)
  return namesIn(path).some((full) => full.includes(name))
}

interface Node {
  readonly type: string
  readonly [key: string]: unknown
}

const known = new Map<string, readonly string[]>()

function namesIn(path: string): readonly string[] {
  const names = known.get(path) ?? readNames(path)
  known.set(path, names)
  return names
}

/** The names of all tests in a file, and of the groups that they are in. */
function readNames(path: string): readonly string[] {
  const { program } = parseSync(path, readFileSync(join(root, path), 'utf8'))
  const names: string[] = []
  visit(program as unknown as Node)
  return names

  function visit(node: Node): void {
    if (node.type === 'CallExpression' && makesTests(node['callee'] as Node))
      names.push(textOf((node['arguments'] as Node[])[0]))
    for (const key of visitorKeys[node.type] ?? [])
      for (const child of [node[key]].flat()) if (isNode(child)) visit(child)
  }
}

/** Whether it is `test`, `describe.each(…)` or the like. */
function makesTests(callee: Node): boolean {
  const inner = callee['object'] ?? callee['callee'] ?? callee['tag']
  if (isNode(inner)) return makesTests(inner)
  return ['test', 'it', 'describe', 'proven'].includes(String(callee['name']))
}

/** The text of a literal; what a template fills in is left out. */
function textOf(node: Node | undefined): string {
  if (node?.type === 'TemplateLiteral')
    return (node['quasis'] as { readonly value: { readonly cooked: string } }[])
      .map(({ value }) => value.cooked)
      .join('')
  return typeof node?.['value'] === 'string' ? node['value'] : ''
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value
}
