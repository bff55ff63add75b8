import { type Control, isNested } from '@pawl/core/json-schema'
import type { Issue, Json } from '@pawl/server/internal'
import { en } from '../en.ts'
import { withPoint } from '../text/number.ts'
import { type Draft, draftOf } from './draft.ts'

/** A value, or undefined where nothing was entered; and what cannot be sent at all. The server checks the rest. */
export interface Read {
  readonly value: Json | undefined
  readonly issues: readonly Issue[]
}

const nothing: Read = { value: undefined, issues: [] }

/** Reads what was entered. `path` is written as the server writes the paths of its issues. */
export function readDraft(control: Control, draft: Draft, path: string, isRequired: boolean): Read {
  const read = readShape(control, draft, path, isRequired)
  if (!isRequired || read.value !== undefined || read.issues.length > 0) return read
  return refuse(path, en.issueMissing)
}

function readShape(control: Control, draft: Draft, path: string, isRequired: boolean): Read {
  switch (control.kind) {
    case 'fixed':
      return { value: control.value, issues: [] }
    case 'text':
      return readText(control, draft, isRequired)
    case 'date':
    case 'time':
    case 'date-time':
      return readInstant(control.kind, draft, path)
    case 'number':
      return readNumber(control, draft, path)
    case 'marked':
      return readMarked(control.type, draft, path)
    case 'boolean':
      return { value: typeof draft === 'boolean' ? draft : isRequired ? false : undefined, issues: [] }
    case 'json':
      return readJson(draft, path)
    case 'choice': {
      const index = has(draft, 'option') ? draft.option : null
      return { value: index === null ? undefined : control.options[index]?.value, issues: [] }
    }
    case 'checkboxes': {
      const checked = has(draft, 'checked') ? draft.checked : []
      const isLeftOut = checked.length === 0 && !isRequired
      return {
        value: isLeftOut ? undefined : checked.map((index) => control.options[index]?.value ?? null),
        issues: [],
      }
    }
    default:
      return draft === null && !isRequired
        ? nothing
        : readNested(control, draft ?? draftOf(control), path, isRequired)
  }
}

/** An empty field is no text, unless an empty text may be what is asked for. */
function readText(control: Extract<Control, { kind: 'text' }>, draft: Draft, isRequired: boolean): Read {
  const text = typeof draft === 'string' ? draft : ''
  if (text !== '') return { value: text, issues: [] }
  const mayBeEmpty = isRequired && control.type === 'text' && (control.minLength ?? 0) === 0
  return { value: mayBeEmpty ? '' : undefined, issues: [] }
}

function readInstant(kind: 'date' | 'time' | 'date-time', draft: Draft, path: string): Read {
  if (typeof draft !== 'string' || draft === '') return nothing
  if (kind === 'date') return { value: draft, issues: [] }
  if (kind === 'time') return { value: draft.length === 5 ? `${draft}:00` : draft, issues: [] }
  const date = new Date(draft)
  if (Number.isNaN(date.getTime())) return refuse(path, en.issueDate)
  return { value: date.toISOString(), issues: [] }
}

function readNumber(control: Extract<Control, { kind: 'number' }>, draft: Draft, path: string): Read {
  const text = typeof draft === 'string' ? withPoint(draft.trim()) : ''
  if (text === '') return nothing
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) return refuse(path, en.issueNumber)
  const value = Number(text)
  if (!Number.isFinite(value) || digitsOf(text) !== digitsOf(String(value)))
    return refuse(path, en.issueDigits)
  if (control.isInteger && !Number.isInteger(value)) return refuse(path, en.issueInteger)
  return { value, issues: [] }
}

/** The digits that count, without sign, point, exponent and the zeros around them. A number that was rounded has others. */
function digitsOf(text: string): string {
  const [mantissa = ''] = text.toLowerCase().split('e')
  return mantissa.replace(/[^\d]/g, '').replace(/^0+/, '').replace(/0+$/, '')
}

function readMarked(type: 'date' | 'bigint', draft: Draft, path: string): Read {
  if (typeof draft !== 'string' || draft.trim() === '') return nothing
  const text = draft.trim()
  if (type === 'bigint' && !/^-?\d+$/.test(text)) return refuse(path, en.issueInteger)
  if (type === 'date' && Number.isNaN(Date.parse(text))) return refuse(path, en.issueDate)
  return { value: { $pawl: type, value: text }, issues: [] }
}

function readJson(draft: Draft, path: string): Read {
  if (typeof draft !== 'string' || draft.trim() === '') return nothing
  try {
    return { value: JSON.parse(draft) as Json, issues: [] }
  } catch {
    return refuse(path, en.issueJson)
  }
}

function readNested(
  control: Extract<Control, { kind: 'object' | 'list' | 'tuple' | 'record' | 'nullable' | 'union' }>,
  draft: Draft,
  path: string,
  isRequired: boolean,
): Read {
  switch (control.kind) {
    case 'object':
      return readObject(control, draft, path, isRequired)
    case 'list':
    case 'tuple': {
      const rows = has(draft, 'rows') ? draft.rows : []
      if (control.kind === 'list' && rows.length === 0 && !isRequired) return nothing
      const itemOf = (index: number) => (control.kind === 'list' ? control.item : control.items[index])
      const reads = rows.map((row, index) => {
        const item = itemOf(index)?.() ?? ({ kind: 'json' } as const)
        return readDraft(item, row.draft, `${path}[${index}]`, true)
      })
      return { value: reads.map(({ value }) => value ?? null), issues: reads.flatMap(({ issues }) => issues) }
    }
    case 'record':
      return readRecord(control, draft, path, isRequired)
    case 'nullable': {
      if (!has(draft, 'isNull')) return nothing
      if (draft.isNull) return { value: null, issues: [] }
      return readDraft(control.inner(), draft.inner, path, isRequired)
    }
    case 'union': {
      const variant = has(draft, 'variant') ? draft.variant : null
      const chosen = variant === null ? undefined : control.variants[variant]
      if (!has(draft, 'variant') || variant === null || chosen === undefined) return nothing
      return readDraft(chosen.control(), draft.drafts[variant] ?? null, path, true)
    }
  }
}

function readObject(
  control: Extract<Control, { kind: 'object' }>,
  draft: Draft,
  path: string,
  isRequired: boolean,
): Read {
  const drafts = has(draft, 'fields') ? draft.fields : {}
  const issues: Issue[] = []
  const entries: [string, Json][] = []
  for (const field of control.fields) {
    const own = Object.hasOwn(drafts, field.name) ? (drafts[field.name] ?? null) : null
    const at = path === '' ? field.name : `${path}.${field.name}`
    const read = readDraft(field.control(), own, at, field.isRequired)
    issues.push(...read.issues)
    if (read.value !== undefined) entries.push([field.name, read.value])
  }
  if (!isRequired && isBlank(control, draft)) return nothing
  return { value: Object.fromEntries(entries), issues }
}

/** Whether an optional object was opened and left empty. */
function isBlank(control: Control, draft: Draft): boolean {
  return (
    JSON.stringify(draft) === JSON.stringify(draftOf(control)) && isNested(control) && !hasInitial(control)
  )
}

function hasInitial(control: Control): boolean {
  return (
    control.initial !== undefined ||
    (control.kind === 'object' && control.fields.some((field) => field.control().initial !== undefined))
  )
}

function readRecord(
  control: Extract<Control, { kind: 'record' }>,
  draft: Draft,
  path: string,
  isRequired: boolean,
): Read {
  const pairs = has(draft, 'pairs') ? draft.pairs : []
  if (pairs.length === 0) return isRequired ? { value: {}, issues: [] } : nothing
  const issues: Issue[] = []
  const entries = new Map<string, Json>()
  for (const pair of pairs) {
    const at = path === '' ? pair.key : `${path}.${pair.key}`
    const read = readDraft(control.item(), pair.draft, at, true)
    issues.push(...read.issues)
    if (entries.has(pair.key)) issues.push({ path: at, message: en.issueKey })
    entries.set(pair.key, read.value ?? null)
  }
  return { value: Object.fromEntries(entries), issues }
}

function refuse(path: string, message: string): Read {
  return { value: undefined, issues: [{ path, message }] }
}

function has<K extends string>(
  draft: Draft,
  key: K,
): draft is Extract<Draft, { readonly [P in K]: unknown }> {
  return typeof draft === 'object' && draft !== null && key in draft
}
