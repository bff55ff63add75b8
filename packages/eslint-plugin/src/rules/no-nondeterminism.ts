import type { Rule } from 'eslint'
import { importOf, type Node, pathOf, variableOf } from '../code/nodes.ts'
import { placeOf } from '../code/procedure-code.ts'
import { describe } from './describe.ts'

/** What to use in place of a call. `code` takes the name of the context; a fix that keeps the value is `isSafe`. */
interface Replacement {
  readonly use: string
  readonly code?: (ctx: string) => string
  readonly isSafe?: boolean
}

const clock: Replacement = { use: 'ctx.now()' }
const timer: Replacement = { use: 'ctx.sleep()' }
const random: Replacement = { use: 'ctx.random(), ctx.uuid() or a step' }
const uuid: Replacement = { use: 'ctx.uuid()', code: (ctx) => `${ctx}.uuid()` }

/** Calls that differ each time, by the path of their global. */
const globals: Readonly<Record<string, Replacement>> = {
  'Date.now': { use: 'ctx.now().getTime()', code: (ctx) => `${ctx}.now().getTime()`, isSafe: true },
  Date: clock,
  'performance.now': clock,
  'process.hrtime': clock,
  'process.hrtime.bigint': clock,
  'Math.random': { use: 'ctx.random()', code: (ctx) => `${ctx}.random()` },
  'crypto.randomUUID': uuid,
  'crypto.getRandomValues': random,
  setTimeout: timer,
  setInterval: timer,
  setImmediate: timer,
  'AbortSignal.timeout': { use: 'the `timeout` of an operation' },
}

/** Calls that differ each time, by the module of Node that exports them. */
const exported: Readonly<Record<string, Readonly<Record<string, Replacement>>>> = {
  crypto: {
    randomUUID: uuid,
    ...{ getRandomValues: random, randomBytes: random, randomFill: random, randomFillSync: random },
    randomInt: random,
  },
  timers: { setTimeout: timer, setInterval: timer, setImmediate: timer },
  'timers/promises': { setTimeout: timer, setInterval: timer, setImmediate: timer },
  perf_hooks: { 'performance.now': clock },
}

/** Reports clocks, chance and timers in the code of a procedure, which a replay repeats. */
export const noNondeterminism: Rule.RuleModule = {
  meta: describe('no-nondeterminism', 'problem', 'Disallow clocks, chance and timers in procedures', {
    fixable: 'code',
    hasSuggestions: true,
    messages: {
      differs: '`{{call}}` differs when the run is replayed: use `{{use}}`.',
      replace: 'Replace by {{use}}',
    },
  }),
  create(context) {
    const { sourceCode } = context
    const report = (node: Node, call: string, { use, code, isSafe }: Replacement) => {
      const place = placeOf(sourceCode, node)
      if (place?.in !== 'procedure') return
      const fix = code && ((fixer: Rule.RuleFixer) => fixer.replaceText(node, code(place.ctx.name)))
      const data = { call, use }
      context.report({
        ...{ node, messageId: 'differs', data },
        ...(fix !== undefined && isSafe === true ? { fix } : {}),
        suggest: fix !== undefined && isSafe !== true ? [{ messageId: 'replace', data, fix }] : [],
      })
    }
    return {
      CallExpression(node) {
        const found = findCall(sourceCode, node.callee as Node)
        if (found !== undefined) report(node, `${found.name}()`, found.replacement)
      },
      NewExpression(node) {
        const isNow = node.arguments.length === 0 && nameOf(sourceCode, node.callee as Node) === 'Date'
        if (isNow)
          report(node, 'new Date()', { use: 'ctx.now()', code: (ctx) => `${ctx}.now()`, isSafe: true })
      },
    }
  },
}

function findCall(
  source: Rule.RuleContext['sourceCode'],
  callee: Node,
): { readonly name: string; readonly replacement: Replacement } | undefined {
  const name = nameOf(source, callee)
  const replacement = name === undefined ? undefined : globals[name]
  if (name !== undefined && replacement !== undefined) return { name, replacement }
  const path = pathOf(callee)
  const imported = path && importOf(source, path.root)
  if (path === undefined || imported === undefined) return undefined
  const isWhole = imported.name === '*' || imported.name === 'default'
  const names = isWhole ? path.names : [imported.name, ...path.names]
  const called = names.join('.')
  const other = exported[imported.from.replace(/^node:/, '')]?.[called]
  return other && { name: called, replacement: other }
}

/** Returns the path of a global, without `globalThis`; undefined for what the program declares itself. */
function nameOf(source: Rule.RuleContext['sourceCode'], node: Node): string | undefined {
  const path = pathOf(node)
  if (path?.root.type !== 'Identifier' || variableOf(source, path.root) !== undefined) return undefined
  const names = [path.root.name, ...path.names]
  return (names[0] === 'globalThis' ? names.slice(1) : names).join('.')
}
