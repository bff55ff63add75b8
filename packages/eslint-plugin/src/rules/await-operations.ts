import type { Rule } from 'eslint'
import { type Node, wrapped } from '../code/nodes.ts'
import { asks, operationOf, operations } from '../code/procedure-code.ts'
import { describe } from './describe.ts'

const chains: ReadonlySet<string> = new Set(['then', 'catch', 'finally'])

/** Reports operations whose promise nothing awaits. */
export const awaitOperations: Rule.RuleModule = {
  meta: describe('await-operations', 'problem', 'Require that the promise of each operation is awaited', {
    hasSuggestions: true,
    messages: {
      floating: 'Await `ctx.{{name}}`: without it the procedure continues, and its failure is lost.',
      ask: 'Await `ctx.{{name}}`: without it the procedure acts before anyone has answered.',
      unread: 'The promise of `ctx.{{name}}` has no `{{part}}`: await it first.',
      add: 'Add await',
    },
  }),
  create(context) {
    const { sourceCode } = context
    const report = (call: Node, messageId: string, data: { readonly name: string; readonly part?: string }) =>
      context.report({
        ...{ node: call, messageId, data },
        suggest: isInAsync(call)
          ? [{ messageId: 'add', fix: (fixer) => addAwait(fixer, sourceCode, call) }]
          : [],
      })
    return {
      CallExpression(call) {
        const name = operationOf(sourceCode, call)?.name
        if (name === undefined || !operations.has(name)) return
        const part = partOf(call)
        if (part !== undefined) report(call, 'unread', { name, part })
        else if (isFloating(context, call, asks.has(name)))
          report(call, asks.has(name) ? 'ask' : 'floating', { name })
      },
    }
  },
}

/** Returns what is read of the promise itself, as if it were the result; undefined if nothing is. */
function partOf(call: Node): string | undefined {
  const whole = wrapped(call)
  const { parent } = whole
  if (parent?.type === 'MemberExpression' && parent.object === whole && parent.property.type === 'Identifier')
    return chains.has(parent.property.name) ? undefined : parent.property.name
  if (parent?.type !== 'VariableDeclarator' || parent.id.type !== 'ObjectPattern') return undefined
  const [first] = parent.id.properties
  return first?.type === 'Property' && first.key.type === 'Identifier' ? first.key.name : undefined
}

/** Whether nothing can ever await the promise. An ask is floating also with `void`. */
function isFloating(context: Rule.RuleContext, node: Node, isAsk: boolean): boolean {
  const whole = wrapped(node)
  const { parent } = whole
  switch (parent?.type) {
    case 'ExpressionStatement':
      return true
    case 'UnaryExpression':
      return isAsk && parent.operator === 'void'
    case 'MemberExpression': {
      // A chain is as floating as its end.
      const call = parent.parent
      return parent.object === whole && call?.type === 'CallExpression' && call.callee === parent
        ? isFloating(context, call, isAsk)
        : false
    }
    case 'VariableDeclarator': {
      const [variable] = context.sourceCode.getDeclaredVariables(parent)
      return variable !== undefined && !variable.references.some((one) => one.isRead())
    }
    default:
      return false
  }
}

function isInAsync(node: Node): boolean {
  for (let one: Node | null = node; one !== null && one !== undefined; one = one.parent)
    if ('async' in one) return one.async === true
  return false
}

function addAwait(fixer: Rule.RuleFixer, source: Rule.RuleContext['sourceCode'], call: Node): Rule.Fix {
  const whole = wrapped(call)
  const needsParentheses = whole.parent?.type === 'MemberExpression' && partOf(call) !== undefined
  const text = source.getText(whole)
  return fixer.replaceText(whole, needsParentheses ? `(await ${text})` : `await ${text}`)
}
