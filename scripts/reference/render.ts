import { errorCodes } from '../../packages/core/src/errors/catalogue.ts'
import type { Declaration, Member } from './declarations.ts'
import type { Page, Section, Table } from './pages.ts'

/** Finds a declaration by its file and name. */
export type Find = (file: string, name: string) => Declaration

const notice =
  '<!-- Generated from docstrings by `npm run docs:reference`. Change the docstrings, not this page. -->'

/** Writes a page of the reference. */
export function renderPage({ title, intro, sections }: Page, find: Find): string {
  const parts = [notice, `# ${title}`, intro, ...sections.flatMap((section) => renderSection(section, find))]
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

function renderSection(
  { heading, signature, of, note, tables, see }: Section,
  find: Find,
): readonly string[] {
  const doc = of === undefined ? undefined : find(...of).doc
  return [
    `## ${heading}`,
    signature === undefined ? '' : `\`${signature}\``,
    linkCodes(doc?.text ?? ''),
    doc === undefined || doc.throws === '' ? '' : `Errors: ${linkCodes(doc.throws)}.`,
    note ?? '',
    ...(tables ?? []).map((table) => renderTable(table, find)),
    see === undefined ? '' : `See ${see}.`,
  ]
}

/** The options that a table lists: each once, without those that may never be given. */
export function optionsOf(
  { types, only, without = [], hasMethods = false }: Table,
  find: Find,
): readonly Member[] {
  const members = types.flatMap(([file, name]) => [...find(file, name).members])
  const chosen = members.filter(
    ({ name, type, isMethod }) =>
      (hasMethods || !isMethod) &&
      !type.startsWith('Refused<') &&
      !without.includes(name) &&
      (only === undefined || only.includes(name)),
  )
  return chosen.filter(({ name }, index) => chosen.findIndex((one) => one.name === name) === index)
}

function renderTable(table: Table, find: Find): string {
  const members = optionsOf(table, find)
  if (table.isOutput !== true) for (const member of members) checkDocs(member, table)
  const rows = members.map((member) => [
    `\`${member.name}\``,
    table.shown?.[member.name] ?? `\`${member.type}\``,
    quoteWords(member.doc.default || (member.optional ? '' : 'required')),
    quoteWords(member.doc.range),
    linkCodes(member.doc.text),
  ])
  const columns = table.isOutput
    ? [table.title ?? 'field', 'type', 'meaning']
    : [table.title ?? 'option', 'type', 'default', 'range', 'meaning']
  const shown = table.isOutput ? rows.map(([name, type, , , meaning]) => [name, type, meaning]) : rows
  return [columns, columns.map(() => '---'), ...shown]
    .map((cells) => `| ${cells.map((cell) => (cell ?? '').replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n')
}

/** Writes `'10s'` as code, unless it is already. */
function quoteWords(text: string): string {
  return eachProse(text, (prose) =>
    prose.replaceAll(/'[^']*'/g, '`$&`').replaceAll(/\b\d{4}-\d\d-\d\dT[\d:]+Z/g, '`$&`'),
  )
}

/** Writes words in quotes as code, and codes of errors as links to their pages. */
function linkCodes(text: string): string {
  return eachProse(text, (prose) =>
    prose.replaceAll(/'([^']+)'/g, (quoted, word: string) =>
      (errorCodes as readonly string[]).includes(word) ? `[${word}](../errors/${word}.md)` : `\`${quoted}\``,
    ),
  )
}

function eachProse(text: string, change: (prose: string) => string): string {
  return text
    .split(/(`[^`]*`)/)
    .map((part, index) => (index % 2 === 0 ? change(part) : part))
    .join('')
}

/** @throws Error if a docstring lacks a fact that people look for */
function checkDocs({ name, optional, doc }: Member, { types }: Table): void {
  const of = `${name} of ${types.map(([, type]) => type).join(' or ')}`
  if (doc.text === '') throw new Error(`${of} has no docstring`)
  if (optional && doc.default === '') throw new Error(`the docstring of ${of} states no default`)
}
