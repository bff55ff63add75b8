import type { Rule, Scope } from 'eslint'
import {
  type FunctionNode,
  importOf,
  isFunction,
  type Node,
  pathOf,
  strip,
  variableOf,
  wrapped,
} from './nodes.ts'

type Source = Rule.RuleContext['sourceCode']

/** A call of an operation: `ctx.step(…)`, `ctx.human.approve(…)`. */
export interface OperationCall {
  readonly ctx: Scope.Variable
  /** Such as `step` or `human.approve`. */
  readonly name: string
}

/** Where code runs: in a procedure, which repeats it, or in a step, which does not. */
export type Place =
  | { readonly in: 'procedure'; readonly ctx: Scope.Variable }
  | { readonly in: 'step'; readonly of: OperationCall }

/** The operations that return a promise. */
export const operations: ReadonlySet<string> = new Set([
  ...['step', 'gate', 'plan', 'rollback', 'sleep', 'sleepUntil', 'receive', 'receiveAny', 'call', 'spawn'],
  ...['continueAs', 'map', 'race', 'shield', 'checkpoint', 'agent', 'agent.decide', 'human.approve'],
  ...['human.input', 'human.select', 'human.review', 'human.escalate', 'human.notify'],
])

/** The operations that ask a person or an agent, and whose answer code must read. */
export const asks: ReadonlySet<string> = new Set([
  ...['human.approve', 'human.input', 'human.select', 'human.review', 'human.escalate', 'agent.decide'],
])

/** The operations whose functions run outside of the procedure, once for each attempt. */
const effects: ReadonlySet<string> = new Set(['step', 'gate', 'plan', 'onRollback'])

/** The operations whose functions are parts of the procedure, with a context of their own. */
const scopes: ReadonlySet<string> = new Set(['race', 'map', 'shield'])

/** Reads a call of an operation, or of another method of a context; undefined for any other node. */
export function operationOf(source: Source, node: Node): OperationCall | undefined {
  const call = strip(node)
  if (call.type !== 'CallExpression') return undefined
  const path = pathOf(call.callee as Node)
  if (path === undefined || path.names.length === 0) return undefined
  const ctx = variableOf(source, path.root)
  return ctx !== undefined && isContext(source, ctx) ? { ctx, name: path.names.join('.') } : undefined
}

/** Says where the code of a node runs; undefined if it is neither in a procedure nor in a step. */
export function placeOf(source: Source, node: Node): Place | undefined {
  for (let one: Node | null = node.parent; one !== null && one !== undefined; one = one.parent) {
    if (!isFunction(one)) continue
    const of = effectOf(source, one)
    if (of !== undefined) return { in: 'step', of }
    const ctx = contextOf(source, one)
    if (ctx !== undefined) return { in: 'procedure', ctx }
  }
  return undefined
}

/** Returns the operation that a function is given to, as an effect; directly, in an object, or by its name. */
function effectOf(source: Source, one: FunctionNode): OperationCall | undefined {
  const direct = takerOf(source, one, effects)
  if (direct !== undefined) return direct
  for (const { identifier } of namedAs(source, one)?.references ?? []) {
    const given = takerOf(source, identifier as Node, effects)
    if (given !== undefined) return given
  }
  return undefined
}

/** Returns the variable that holds a function. */
function namedAs(source: Source, one: FunctionNode): Scope.Variable | undefined {
  if (one.type === 'FunctionDeclaration') return source.getDeclaredVariables(one)[0]
  const { parent } = wrapped(one as Node)
  return parent?.type === 'VariableDeclarator' ? source.getDeclaredVariables(parent)[0] : undefined
}

/** Returns the call that takes a node as an argument, also within an object or an array. */
function takerOf(source: Source, node: Node, names: ReadonlySet<string>): OperationCall | undefined {
  for (let one = wrapped(node); one.parent !== null && one.parent !== undefined; one = wrapped(one.parent)) {
    const { parent } = one
    switch (parent.type) {
      case 'Property':
      case 'ObjectExpression':
      case 'ArrayExpression':
        continue
      case 'CallExpression': {
        if (parent.callee === one) return undefined
        const operation = operationOf(source, parent)
        return operation !== undefined && names.has(operation.name) ? operation : undefined
      }
      default:
        return undefined
    }
  }
  return undefined
}

function isContext(source: Source, variable: Scope.Variable): boolean {
  return variable.defs.some(({ type, node }) => {
    const one = node as Node
    return type === 'Parameter' && isFunction(one) && contextOf(source, one) === variable
  })
}

/** Returns the context that a function takes; undefined if it takes none. */
function contextOf(source: Source, one: FunctionNode): Scope.Variable | undefined {
  const typed = one.params.find(isTypedContext)
  const taken = typed ?? (takesContext(source, one) ? one.params[0] : undefined)
  if (taken?.type !== 'Identifier') return undefined
  return source.getDeclaredVariables(one).find(({ name }) => name === taken.name)
}

/** Whether a parameter has the type `Ctx` or `CtxOf`. */
function isTypedContext(parameter: FunctionNode['params'][number]): boolean {
  const { typeAnnotation } = parameter as {
    readonly typeAnnotation?: {
      readonly typeAnnotation: { readonly type: string; readonly typeName?: { readonly name?: string } }
    }
  }
  const type = typeAnnotation?.typeAnnotation
  return type?.type === 'TSTypeReference' && /^Ctx(?:Of)?$/.test(type.typeName?.name ?? '')
}

/** Whether a function is the body of a procedure, or of a part of one. */
function takesContext(source: Source, one: FunctionNode): boolean {
  const { parent } = wrapped(one as Node)
  if (parent?.type === 'CallExpression' && parent.arguments.at(-1) === wrapped(one as Node)) {
    const imported = importOf(source, parent.callee as Node)
    if (imported?.from === '@pawl/core' && imported.name === 'procedure') return true
  }
  return takerOf(source, one as Node, scopes) !== undefined
}
