import type { ESLint, Linter } from 'eslint'
import { awaitOperations } from './rules/await-operations.ts'
import { effectsInSteps } from './rules/effects-in-steps.ts'
import { noNondeterminism } from './rules/no-nondeterminism.ts'
import { noOperationInStep } from './rules/no-operation-in-step.ts'
import { noResultAsCondition } from './rules/no-result-as-condition.ts'

const rules = {
  'await-operations': awaitOperations,
  'effects-in-steps': effectsInSteps,
  'no-nondeterminism': noNondeterminism,
  'no-operation-in-step': noOperationInStep,
  'no-result-as-condition': noResultAsCondition,
} satisfies NonNullable<ESLint.Plugin['rules']>

/** The plugin, without its configurations. */
const base: ESLint.Plugin = {
  meta: { name: '@pawl/eslint-plugin', version: '0.1.0', namespace: 'pawl' },
  rules,
}

const recommended: Linter.Config = {
  name: 'pawl/recommended',
  plugins: { pawl: base },
  rules: Object.fromEntries(Object.keys(rules).map((name) => [`pawl/${name}`, 'error' as const])),
}

/**
 * Lint rules for procedures. `configs.recommended` reports each of them as an error. They need no types, so that they also work
 * in oxlint.
 * @example
 * // eslint.config.js
 * import pawl from '@pawl/eslint-plugin'
 * export default [pawl.configs.recommended]
 */
const plugin: ESLint.Plugin & { readonly configs: { readonly recommended: Linter.Config } } = {
  ...base,
  configs: { recommended },
}

export default plugin
