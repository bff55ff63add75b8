import { parseSync, visitorKeys } from 'oxc-parser'

/** What a module imports (types included), and which names it reads that may be globals. */
export interface Module {
  readonly imports: readonly { readonly specifier: string; readonly line: number }[]
  readonly uses: readonly { readonly name: string; readonly line: number }[]
}

/** A node of the syntax tree, as far as this file looks at one. */
interface Node {
  readonly type: string
  readonly start: number
  readonly [key: string]: unknown
}

const importing = new Set([
  'ImportDeclaration',
  'ExportNamedDeclaration',
  'ExportAllDeclaration',
  'ImportExpression',
  'TSImportType',
])

/** @throws Error when the text is not TypeScript */
export function readModule(file: string, text: string): Module {
  const { program, errors } = parseSync(file, text)
  if (errors[0]) throw new Error(`${file}: ${errors[0].message}`)

  const imports: { specifier: string; line: number }[] = []
  const uses: { name: string; line: number }[] = []
  const lineOf = (node: Node) => text.slice(0, node.start).split('\n').length

  visit(program as unknown as Node)
  return { imports, uses }

  function visit(node: Node): void {
    const source = importing.has(node.type) ? (node['source'] as Node | null) : null
    if (typeof source?.['value'] === 'string') {
      imports.push({ specifier: source['value'], line: lineOf(node) })
    }
    const name = nameOfUse(node)
    if (name) uses.push({ name, line: lineOf(node) })

    for (const key of visitorKeys[node.type] ?? []) {
      if (isOnlyAName(node, key)) continue
      for (const child of [node[key]].flat()) if (isNode(child)) visit(child)
    }
  }
}

/** `process` for a name, `Math.random` for a member of one, `new Date()` and `Date()` for the calls that read the clock. */
function nameOfUse(node: Node): string | undefined {
  if (node.type === 'Identifier') return nameOf(node)
  if (node.type === 'MemberExpression' && node['computed'] === false) {
    const object = node['object'] as Node
    const property = node['property'] as Node
    return object.type === 'Identifier' ? `${nameOf(object)}.${nameOf(property)}` : undefined
  }
  if (node.type === 'NewExpression' || node.type === 'CallExpression') {
    const callee = node['callee'] as Node
    const isBare = (node['arguments'] as Node[]).length === 0
    if (callee['name'] !== 'Date') return undefined
    if (node.type === 'CallExpression') return 'Date()'
    return isBare ? 'new Date()' : undefined
  }
  return undefined
}

function nameOf(identifier: Node): string {
  return identifier['name'] as string
}

/** The `b` of `a.b`, and the `b` of `{ b: 1 }`, of classes and of types: labels, no uses of a variable b. */
function isOnlyAName(node: Node, key: string): boolean {
  if (node['computed'] === true) return false
  return key === 'property' || key === 'key' || key === 'typeName'
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value
}
