import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseSync } from 'oxc-parser'

/** A declaration that an entry point exports. */
export interface Exported {
  readonly name: string
  readonly file: string
  readonly line: number
  readonly isDocumented: boolean
}

/** A node of the syntax tree. */
interface Node {
  readonly type: string
  readonly start: number
  readonly [key: string]: unknown
}

/** Where a name of a module is declared: here, or in another module under another name. */
type Origin = { readonly node: Node } | { readonly from: string; readonly name: string }

/** A parsed source file. */
interface Module {
  readonly text: string
  readonly comments: readonly { readonly type: string; readonly value: string; readonly end: number }[]
  /** Its declarations and imports, by local name. */
  readonly locals: ReadonlyMap<string, Origin>
  /** Its exports, by exported name. */
  readonly exports: ReadonlyMap<string, Origin>
  /** Modules that it exports as a whole. */
  readonly stars: readonly string[]
}

/** Lists the declarations that a module exports, wherever they are declared. Omits names of other packages. */
export function listExports(file: string): readonly Exported[] {
  const modules = new Map<string, Module>()
  return namesOf(file).flatMap((name) => {
    const found = find(file, name)
    return found === undefined ? [] : [found]
  })

  function moduleOf(path: string): Module {
    const known = modules.get(path) ?? readModule(path)
    modules.set(path, known)
    return known
  }

  function namesOf(path: string): readonly string[] {
    const { exports, stars } = moduleOf(path)
    return [...new Set([...exports.keys(), ...stars.flatMap((star) => namesOf(join(dirname(path), star)))])]
  }

  function find(path: string, name: string): Exported | undefined {
    const module = moduleOf(path)
    const origin = module.exports.get(name) ?? module.locals.get(name)
    if (origin === undefined)
      return module.stars
        .map((star) => find(join(dirname(path), star), name))
        .find((one) => one !== undefined)
    if ('node' in origin) return describe(path, name, module, origin.node)
    if (!origin.from.startsWith('.')) return undefined
    if (origin.from !== '.') return find(join(dirname(path), origin.from), origin.name)
    // Exported apart from its declaration or import, maybe under the same name.
    const local = module.locals.get(origin.name)
    if (local === undefined) return undefined
    if ('node' in local) return describe(path, origin.name, module, local.node)
    return local.from.startsWith('.') ? find(join(dirname(path), local.from), local.name) : undefined
  }
}

function describe(file: string, name: string, { text, comments }: Module, { start }: Node): Exported {
  const before = comments.findLast(
    ({ type, value, end }) => type === 'Block' && value.startsWith('*') && end <= start,
  )
  const between = before === undefined ? 'code' : text.slice(before.end, start)
  return {
    name,
    file,
    line: text.slice(0, start).split('\n').length,
    isDocumented: /^(\s|\/\/.*)*$/.test(between),
  }
}

function readModule(file: string): Module {
  if (!existsSync(file)) throw new Error(`${file} does not exist`)
  const text = readFileSync(file, 'utf8')
  const { program, comments } = parseSync(file, text)
  const locals = new Map<string, Origin>()
  const exports = new Map<string, Origin>()
  const stars: string[] = []
  for (const statement of program.body as unknown as readonly Node[]) {
    const from = (statement['source'] as { readonly value: string } | null | undefined)?.value
    const declaration = statement['declaration'] as Node | null | undefined
    if (statement.type === 'ImportDeclaration') addImports(statement, from ?? '')
    else if (statement.type === 'ExportAllDeclaration') stars.push(from ?? '')
    else if (declaration)
      for (const name of declaredNames(declaration)) add(exports, name, { node: statement })
    else if (statement.type === 'ExportNamedDeclaration')
      for (const { local, exported } of specifiersOf(statement))
        exports.set(nameOf(exported), { from: from ?? '.', name: nameOf(local) })
    else for (const name of declaredNames(statement)) add(locals, name, { node: statement })
  }
  return { text, comments, locals, exports, stars }

  function addImports(statement: Node, from: string): void {
    for (const { local, imported } of specifiersOf(statement))
      locals.set(nameOf(local), { from, name: nameOf(imported ?? local) })
  }
}

/** Keeps the first declaration of a name: the docstring of overloads is on the first one. */
function add(map: Map<string, Origin>, name: string, origin: Origin): void {
  if (!map.has(name)) map.set(name, origin)
}

function declaredNames(node: Node): readonly string[] {
  if (node.type === 'VariableDeclaration')
    return (node['declarations'] as readonly Node[]).map(({ id }) => nameOf(id))
  return node['id'] ? [nameOf(node['id'])] : []
}

function specifiersOf(node: Node): readonly { local: unknown; imported?: unknown; exported?: unknown }[] {
  return node['specifiers'] as never
}

function nameOf(node: unknown): string {
  const { name, value } = node as { readonly name?: string; readonly value?: string }
  return name ?? value ?? ''
}
