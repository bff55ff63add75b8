import type { Rule, Scope } from 'eslint'

export type Node = Rule.Node
export type FunctionNode = Extract<
  Node,
  { readonly type: 'ArrowFunctionExpression' | 'FunctionDeclaration' | 'FunctionExpression' }
>

export function isFunction(node: Node): node is FunctionNode {
  return (
    node.type === 'ArrowFunctionExpression' ||
    node.type === 'FunctionDeclaration' ||
    node.type === 'FunctionExpression'
  )
}

/** Returns the node without what a compiler removes: types, assertions, parentheses of a chain. */
export function strip(node: Node): Node {
  // The nodes of a TypeScript parser are not in the types of ESLint.
  const { type, expression } = node as { readonly type: string; readonly expression?: Node }
  const isWrapper = type === 'ChainExpression' || /^TS(?:As|NonNull|Satisfies|TypeAssertion)/.test(type)
  return isWrapper && expression !== undefined ? strip(expression) : node
}

/** Returns the outermost node that is the given one but for what a compiler removes. */
export function wrapped(node: Node): Node {
  const { parent } = node
  return parent !== null && parent !== undefined && parent !== node && strip(parent) === strip(node)
    ? wrapped(parent)
    : node
}

/** Returns the variable that an identifier refers to; undefined for a global, or for any other node. */
export function variableOf(source: Rule.RuleContext['sourceCode'], node: Node): Scope.Variable | undefined {
  if (node.type !== 'Identifier') return undefined
  for (let scope: Scope.Scope | null = source.getScope(node); scope !== null; scope = scope.upper) {
    const found = scope.set.get(node.name)
    if (found !== undefined) return found.defs.length === 0 ? undefined : found
  }
  return undefined
}

/** Returns the module and the name that an identifier was imported from; `*` for a namespace, `default` for a default import. */
export function importOf(
  source: Rule.RuleContext['sourceCode'],
  node: Node,
): { readonly from: string; readonly name: string } | undefined {
  const [definition] = variableOf(source, node)?.defs ?? []
  if (definition?.type !== 'ImportBinding') return undefined
  const from = String((definition.parent as { readonly source: { readonly value: unknown } }).source.value)
  const { node: specifier } = definition
  if (specifier.type === 'ImportNamespaceSpecifier') return { from, name: '*' }
  if (specifier.type === 'ImportDefaultSpecifier') return { from, name: 'default' }
  const { imported } = specifier as {
    readonly imported: { readonly name?: string; readonly value?: unknown }
  }
  return { from, name: imported.name ?? String(imported.value) }
}

/** Returns `a.b.c` of a member expression as its root and its names; undefined if a part is computed. */
export function pathOf(node: Node): { readonly root: Node; readonly names: readonly string[] } | undefined {
  const plain = strip(node)
  if (plain.type !== 'MemberExpression') return { root: plain, names: [] }
  const { property, object, computed } = plain
  if (computed || property.type !== 'Identifier') return undefined
  const before = pathOf(object as Node)
  return before && { root: before.root, names: [...before.names, property.name] }
}
