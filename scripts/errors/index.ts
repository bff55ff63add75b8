// Writes the first part of each page in docs/errors from the catalogue.  usage: npm run docs:errors [-- --check]
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { errorCodes, explain } from '../../packages/core/src/errors/catalogue.ts'
import type { ErrorCode } from '../../packages/core/src/errors/error-details.ts'
import { createFinder } from '../reference/find.ts'
import { formatPages } from '../reference/format.ts'
import { samples } from './samples.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const isCheck = process.argv.includes('--check')
const end = '<!-- End of the generated part. -->'
const members = createFinder(root)('core/src/errors/error-details.ts', 'ErrorDetails').members

const pages = errorCodes.map((code) => {
  const file = join(root, 'docs/errors', `${code}.md`)
  return { file, before: existsSync(file) ? readFileSync(file, 'utf8') : '' }
})
const formatted = formatPages(
  root,
  errorCodes.map((code, index) => `${renderSkeleton(code)}\n\n${handWritten(pages[index]?.before ?? '')}`),
)
const stale = errorCodes.filter((_, index) => {
  const { file, before } = pages[index] as (typeof pages)[number]
  const after = formatted[index] as string
  if (before === after) return false
  if (!isCheck) writeFileSync(file, after)
  return true
})
for (const code of stale)
  console.log(`${isCheck ? 'differs from the catalogue' : 'written'}: docs/errors/${code}.md`)
if (isCheck && stale.length > 0) {
  console.log('Run `npm run docs:errors`.')
  process.exitCode = 1
}

function renderSkeleton(code: ErrorCode): string {
  const member = members.find(({ name }) => name === code)
  if (member === undefined || member.doc.text === '')
    throw new Error(`${code} has no docstring in ErrorDetails`)
  const { what, next, remedy } = explain(code, samples[code] as never)
  const rows = [
    ['What', what],
    ['Next', next],
    ['Remedy', remedy],
    ['`details`', `\`${member.type}\``],
  ].filter(([, text]) => text !== '')
  return [
    `# ${code}`,
    '<!-- Generated from the error catalogue by `npm run docs:errors`. Change the catalogue, not this part. -->',
    member.doc.text,
    [
      '| part | example |',
      '| --- | --- |',
      ...rows.map(([part, text]) => `| ${part} | ${escapeCell(text ?? '')} |`),
    ].join('\n'),
    end,
  ].join('\n\n')
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;')
}

/** What follows the generated part; on a page without one, what follows its title. */
function handWritten(page: string): string {
  const at = page.indexOf(end)
  return (at === -1 ? page.replace(/^# .*\n/, '') : page.slice(at + end.length)).trim()
}
