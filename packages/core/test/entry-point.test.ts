import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync, visitorKeys } from 'oxc-parser'
import { expect, test } from 'vitest'
import * as core from '../src/index.ts'

test('exports exactly these values', () => {
  const values = [
    'FinalError',
    'PawlError',
    'agent',
    'checkRuns',
    'createClient',
    'createEngine',
    'decider',
    'duration',
  ]
  expect(Object.keys(core).sort()).toEqual([...values, 'procedure', 'ref', 'unusedBranches'])
})

test('exports every interface that a public signature names', () => {
  const isPublic = new Set(listExports('../src/index.ts').map(({ file, name }) => `${file}: ${name}`))
  const missing = [...isPublic].flatMap((of) => {
    const [file = '', name = ''] = of.split(': ')
    return typesIn(file, name)
      .filter((type) => !isPublic.has(type) && isInterface(type))
      .map((type) => `${of} names ${type}`.replaceAll(pathOf('../src/'), ''))
  })
  expect(missing).toEqual([])
})

/** A node of the syntax tree, as far as this file looks at one. */
interface Node {
  readonly type: string
  readonly [key: string]: unknown
}

interface Export {
  readonly file: string
  readonly name: string
}

function pathOf(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url))
}

const trees = new Map<string, readonly Node[]>()

function read(file: string): readonly Node[] {
  const body =
    trees.get(file) ?? (parseSync(file, readFileSync(file, 'utf8')).program.body as unknown as Node[])
  trees.set(file, body)
  return body
}

/** What an index file exports, and from where. */
function listExports(index: string): readonly Export[] {
  return read(pathOf(index)).flatMap((node) => {
    const source = (node['source'] as Node | null)?.['value']
    if (node.type !== 'ExportNamedDeclaration' || typeof source !== 'string') return []
    const file = join(dirname(pathOf(index)), source)
    return (node['specifiers'] as Node[]).map(({ local }) => ({ file, name: nameOf(local as Node) }))
  })
}

/** The types of this project that the signature of a declaration names, as `file: name`. */
function typesIn(file: string, name: string): readonly string[] {
  const declared = read(file).map((node) => (node['declaration'] as Node | null | undefined) ?? node)
  const places = new Map(declared.flatMap((node) => namesOf(node).map((own) => [own, `${file}: ${own}`])))
  for (const { type, source, specifiers } of read(file)) {
    const path = (source as Node | null)?.['value']
    if (type !== 'ImportDeclaration' || typeof path !== 'string' || !path.startsWith('.')) continue
    for (const { local, imported } of specifiers as Node[])
      places.set(
        nameOf(local as Node),
        `${join(dirname(file), path)}: ${nameOf((imported ?? local) as Node)}`,
      )
  }
  const found = new Set<string>()
  for (const node of declared) if (namesOf(node).includes(name)) collect(node, found)
  return [...found].flatMap((one) => places.get(one) ?? [])
}

/** Whether it is an interface that other files may import. Other types compute what a signature allows. */
function isInterface(type: string): boolean {
  const [file = '', name = ''] = type.split(': ')
  return read(file).some((node) => {
    const declaration = node['declaration'] as Node | null | undefined
    return declaration?.type === 'TSInterfaceDeclaration' && namesOf(declaration).includes(name)
  })
}

/** Bodies and private members are no part of a signature. */
function collect(node: Node, found: Set<string>): void {
  if (node.type === 'TSTypeReference') found.add(nameOf(node['typeName'] as Node))
  if (node.type === 'TSInterfaceHeritage' || node.type === 'TSClassImplements')
    found.add(nameOf(node['expression'] as Node))
  if (node.type === 'BlockStatement' || node['accessibility'] === 'private') return
  for (const key of visitorKeys[node.type] ?? []) {
    if (key === 'init' || key === 'value') continue
    for (const child of [node[key]].flat()) if (isNode(child)) collect(child, found)
  }
}

function namesOf(node: Node): readonly string[] {
  const id = node['id'] as Node | null | undefined
  if (node.type === 'VariableDeclaration') return (node['declarations'] as Node[]).flatMap(namesOf)
  return isNode(id) && id.type === 'Identifier' ? [nameOf(id)] : []
}

function nameOf(node: Node): string {
  return typeof node['name'] === 'string' ? node['name'] : ''
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value
}
