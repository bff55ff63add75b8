import type { Rule } from 'eslint'
import { operationOf, operations, placeOf } from '../code/procedure-code.ts'
import { describe } from './describe.ts'

/** Reports operations within the function of a step, of a gate, or of an undo. */
export const noOperationInStep: Rule.RuleModule = {
  meta: describe('no-operation-in-step', 'problem', 'Disallow operations within a step', {
    messages: {
      nested:
        '`ctx.{{name}}` cannot be used in the function of `ctx.{{outer}}`, which runs again after a crash: call it in the procedure.',
    },
  }),
  create(context) {
    const { sourceCode } = context
    return {
      CallExpression(call) {
        const name = operationOf(sourceCode, call)?.name
        if (name === undefined || (!operations.has(name) && name !== 'onRollback')) return
        const place = placeOf(sourceCode, call)
        if (place?.in !== 'step') return
        context.report({ node: call, messageId: 'nested', data: { name, outer: place.of.name } })
      },
    }
  },
}
