import { readFileSync } from 'node:fs'
import { parseSync } from 'oxc-parser'
import { type Docstring, readDocstring } from './docstring.ts'

/** One property or method of a type. */
export interface Member {
  readonly name: string
  readonly optional: boolean
  readonly isMethod: boolean
  /** Its type as people read it. */
  readonly type: string
  readonly doc: Docstring
}

/** An interface, or a function, with its docstring. */
export interface Declaration {
  readonly doc: Docstring
  readonly members: readonly Member[]
}

/** The declarations of one source file, by name; `Human.approve` is the method of an interface. */
export type Declarations = ReadonlyMap<string, Declaration>

/** A node of the syntax tree. */
interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [key: string]: unknown
}

/** Reads the interfaces, the methods and the functions of a source file. `words` are unions to write out, by name. */
export function readDeclarations(file: string, words: ReadonlyMap<string, string>): Declarations {
  const text = readFileSync(file, 'utf8')
  const { program, comments } = parseSync(file, text)
  const found = new Map<string, Declaration>()
  for (const statement of program.body as unknown as readonly Node[]) {
    const node = (statement['declaration'] as Node | null | undefined) ?? statement
    const name = nameOf(node['id'])
    if (name === undefined) continue
    const doc = docOf(statement)
    if (node.type === 'TSInterfaceDeclaration') addInterface(name, doc, node)
    else if (node.type === 'TSTypeAliasDeclaration')
      found.set(name, { doc, members: membersWithin(node['typeAnnotation'] as Node, new Map()) })
    else if (node.type === 'FunctionDeclaration' && !found.has(name)) found.set(name, { doc, members: [] })
  }
  return found

  function addInterface(name: string, doc: Docstring, node: Node): void {
    const nodes = (node['body'] as { readonly body: readonly Node[] }).body
    const bounds = boundsOf(node)
    found.set(name, { doc, members: nodes.flatMap((one) => memberOf(one, bounds)) })
    for (const one of nodes) {
      const method = one.type === 'TSCallSignatureDeclaration' ? 'call' : nameOf(one['key'])
      const path = `${name}.${method}`
      if (method !== undefined && !found.has(path)) found.set(path, { doc: docOf(one), members: [] })
    }
  }

  /** The properties of the object types in a union or an intersection, the first of each name. */
  function membersWithin(node: Node, bounds: ReadonlyMap<string, string>): readonly Member[] {
    if (node.type === 'TSTypeLiteral')
      return (node['members'] as readonly Node[]).flatMap((one) => memberOf(one, bounds))
    const parts = [node['types'], node['trueType'], node['falseType']].flat().filter(isNode)
    const members = parts.flatMap((part) => membersWithin(part, bounds))
    return members.filter(({ name }, index) => members.findIndex((one) => one.name === name) === index)
  }

  function memberOf(node: Node, bounds: ReadonlyMap<string, string>): readonly Member[] {
    const name = nameOf(node['key'])
    const annotation = node['typeAnnotation'] as { readonly typeAnnotation: Node } | null | undefined
    if (name === undefined) return []
    const common = { name, optional: node['optional'] === true, doc: docOf(node) }
    if (node.type === 'TSMethodSignature') return [{ ...common, isMethod: true, type: typeOfMethod(node) }]
    if (node.type !== 'TSPropertySignature' || !annotation) return []
    const { start, end } = annotation.typeAnnotation
    return [{ ...common, isMethod: false, type: showType(text.slice(start, end), bounds, words) }]
  }

  /** The type of a method, as that of a function. */
  function typeOfMethod(node: Node): string {
    const parameters = node['params'] as readonly Node[]
    const returned = node['returnType'] as { readonly typeAnnotation: Node }
    const shown = parameters.map(({ start, end }) => showType(text.slice(start, end), new Map(), words))
    const { start, end } = returned.typeAnnotation
    return `(${shown.join(', ')}) => ${showType(text.slice(start, end), new Map(), words)}`
  }

  /** The docstring that ends right before a node, if only line comments are between them. */
  function docOf(node: Node): Docstring {
    const before = comments.findLast(
      ({ type, value, end }) => type === 'Block' && value.startsWith('*') && end <= node.start,
    )
    const between = before === undefined ? 'code' : text.slice(before.end, node.start)
    return readDocstring(/^(\s|\/\/.*)*$/.test(between) ? (before?.value ?? '') : '')
  }

  /** The constraint of each type parameter. */
  function boundsOf(node: Node): ReadonlyMap<string, string> {
    const parameters = (node['typeParameters'] as { readonly params: readonly Node[] } | null)?.params ?? []
    return new Map(
      parameters.map((parameter) => {
        const bound = parameter['constraint'] as Node | null
        return [
          nameOf(parameter['name']) ?? '',
          bound === null ? 'unknown' : text.slice(bound.start, bound.end),
        ]
      }),
    )
  }
}

/** Reads the unions of words, such as `AskStatus`, each written out. */
export function readWords(file: string): ReadonlyMap<string, string> {
  const text = readFileSync(file, 'utf8')
  const lists = new Map(
    [...text.matchAll(/export const (\w+) = \[([^\]]*)\] as const/g)].map(([, name = '', list = '']) => [
      name,
      [...list.matchAll(/'[^']*'/g)].map(([word]) => word).join(' | '),
    ]),
  )
  return new Map(
    [...text.matchAll(/export type (\w+) = \(typeof (\w+)\)\[number\]/g)].map(([, name = '', list = '']) => [
      name,
      lists.get(list) ?? name,
    ]),
  )
}

/** Leaves out what people do not need: modifiers, the types of types, and comments. */
function showType(
  source: string,
  bounds: ReadonlyMap<string, string>,
  words: ReadonlyMap<string, string>,
): string {
  return source
    .replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')
    .replaceAll(/\b[A-Z]\w*\b/g, (name) => bounds.get(name) ?? name)
    .replaceAll(/\bNoInfer<([^<>]*)>/g, '$1')
    .replaceAll(/\b(Schema|Procedure|Agent|RiskDetails|Partial)<[^<>]*>/g, '$1')
    .replaceAll(/\b[A-Z]\w*\b(?!\[)/g, (name) => words.get(name) ?? name)
    .replaceAll(/(?<=[^{|;,\s])\s*\n\s*(?=readonly \w+\??:)/g, '; ')
    .replaceAll('readonly ', '')
    .replaceAll(/\s+/g, ' ')
    .replace(/^ ?\| /, '')
    .replace(/ \| undefined$/, '')
}

function nameOf(node: unknown): string | undefined {
  const { name, value } = (node ?? {}) as { readonly name?: unknown; readonly value?: unknown }
  const found = name ?? value
  return typeof found === 'string' ? found : undefined
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value
}
