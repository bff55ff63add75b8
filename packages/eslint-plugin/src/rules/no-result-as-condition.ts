import type { Rule } from 'eslint'
import { type Node, strip, variableOf, wrapped } from '../code/nodes.ts'
import { operationOf } from '../code/procedure-code.ts'
import { describe } from './describe.ts'

/** What says whether it is a yes. */
const verdicts: Readonly<Record<string, string>> = { 'human.approve': 'approved', gate: 'done' }

/** Reports conditions on an object that is always true: an approval, or the result of a gate. */
export const noResultAsCondition: Rule.RuleModule = {
  meta: describe(
    'no-result-as-condition',
    'problem',
    'Disallow an approval or the result of a gate as a condition',
    {
      hasSuggestions: true,
      messages: {
        always: 'The result of `ctx.{{name}}` is an object, so a no counts as a yes: check `.{{verdict}}`.',
        check: 'Check .{{verdict}}',
      },
    },
  ),
  create(context) {
    const { sourceCode } = context
    const check = (tested: Node) => {
      const name = resultOf(sourceCode, strip(tested))
      const verdict = name === undefined ? undefined : verdicts[name]
      if (name === undefined || verdict === undefined) return
      const data = { name, verdict }
      const text = sourceCode.getText(tested)
      const checked = tested.type === 'Identifier' ? `${text}.${verdict}` : `(${text}).${verdict}`
      context.report({
        ...{ node: tested, messageId: 'always', data },
        suggest: [{ messageId: 'check', data, fix: (fixer) => fixer.replaceText(tested, checked) }],
      })
    }
    return {
      IfStatement: ({ test }) => check(test as Node),
      ConditionalExpression: ({ test }) => check(test as Node),
      WhileStatement: ({ test }) => check(test as Node),
      DoWhileStatement: ({ test }) => check(test as Node),
      ForStatement: ({ test }) => test && check(test as Node),
      UnaryExpression: ({ operator, argument }) => {
        if (operator === '!') check(argument as Node)
      },
      LogicalExpression(expression) {
        if (expression.operator === '??') return
        check(expression.left as Node)
        // The right one is a condition if the whole is.
        const { parent } = wrapped(expression)
        if (parent?.type === 'LogicalExpression' || isTest(wrapped(expression)))
          check(expression.right as Node)
      },
      CallExpression({ callee, arguments: [first] }) {
        if (callee.type === 'Identifier' && callee.name === 'Boolean' && first !== undefined)
          check(first as Node)
      },
    }
  },
}

function isTest(node: Node): boolean {
  const { parent } = node
  return parent !== null && parent !== undefined && 'test' in parent && parent.test === node
}

/** Returns the operation whose result, or whose promise, the node is. */
function resultOf(source: Rule.RuleContext['sourceCode'], node: Node): string | undefined {
  if (node.type === 'AwaitExpression') return resultOf(source, strip(node.argument as Node))
  if (node.type === 'CallExpression') return operationOf(source, node)?.name
  const [definition, ...others] = variableOf(source, node)?.defs ?? []
  if (definition?.type !== 'Variable' || others.length > 0) return undefined
  const { id, init } = definition.node
  return id.type === 'Identifier' && init ? resultOf(source, strip(init as Node)) : undefined
}
