import type { Rule } from 'eslint'
import { importOf, type Node, pathOf, variableOf } from '../code/nodes.ts'
import { placeOf } from '../code/procedure-code.ts'
import { describe } from './describe.ts'

/** Modules of Node whose functions act on, or read, what is outside of the process. */
const modules: ReadonlySet<string> = new Set([
  ...['fs', 'fs/promises', 'http', 'https', 'http2', 'net', 'tls', 'dgram', 'dns', 'dns/promises'],
  ...['child_process', 'readline', 'readline/promises'],
])

/** Reports network, files and processes in the code of a procedure, outside of a step. */
export const effectsInSteps: Rule.RuleModule = {
  meta: describe(
    'effects-in-steps',
    'problem',
    'Require that network, files and processes are used in steps',
    {
      messages: {
        outside:
          '`{{call}}` is repeated whenever the run is replayed: call it in a step, `ctx.step(name, () => …)`.',
      },
    },
  ),
  create(context) {
    const { sourceCode } = context
    return {
      CallExpression(node) {
        const call = effectOf(sourceCode, node.callee as Node)
        if (call === undefined || placeOf(sourceCode, node)?.in !== 'procedure') return
        context.report({ node, messageId: 'outside', data: { call: `${call}()` } })
      },
    }
  },
}

/** Returns the name of a function with an effect; undefined for any other. */
function effectOf(source: Rule.RuleContext['sourceCode'], callee: Node): string | undefined {
  const path = pathOf(callee)
  if (path === undefined || path.root.type !== 'Identifier') return undefined
  const { name } = path.root
  if (variableOf(source, path.root) === undefined) {
    const global = [name, ...path.names].filter((one) => one !== 'globalThis').join('.')
    return global === 'fetch' ? global : undefined
  }
  const imported = importOf(source, path.root)
  return imported !== undefined && modules.has(imported.from.replace(/^node:/, ''))
    ? [name, ...path.names].join('.')
    : undefined
}
