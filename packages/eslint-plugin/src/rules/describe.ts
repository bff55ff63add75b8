import type { Rule } from 'eslint'

/** Describes a rule. Its page says what happens without it. */
export function describe(
  name: string,
  type: 'problem' | 'suggestion',
  description: string,
  more: Pick<Rule.RuleMetaData, 'messages' | 'fixable' | 'hasSuggestions'>,
): Rule.RuleMetaData {
  const docs = { description, recommended: true, url: `https://pawl.dev/docs/guides/linting#${name}` }
  return { type, docs, schema: [], ...more }
}
