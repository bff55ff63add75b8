import { type Control, isNested, rowsAtFirst } from '@pawl/core/json-schema'
import type { Json, JsonObject } from '@pawl/server/internal'
import { isObject } from '../api/json.ts'

/**
 * The entered values, also invalid ones. Plain JSON, so that they survive a reload. Undefined parts are untouched.
 */
export type Draft =
  | string
  | boolean
  | null
  | { readonly option: number | null }
  | { readonly checked: readonly number[] }
  | { readonly fields: { readonly [name: string]: Draft } }
  | { readonly rows: readonly Row[] }
  | { readonly pairs: readonly Pair[] }
  | { readonly isNull: boolean; readonly inner: Draft }
  | { readonly variant: number | null; readonly drafts: readonly Draft[] }

/** `id` keeps a row's field on the screen the same when rows move. */
export interface Row {
  readonly id: number
  readonly draft: Draft
}
export interface Pair extends Row {
  readonly key: string
}

/** The draft of a part that is not opened yet. */
const untouched = null

/** The draft of a control that shows `value`; without one, its default, else empty. */
export function draftOf(control: Control, value: Json | undefined = control.initial): Draft {
  switch (control.kind) {
    case 'text':
    case 'date':
    case 'time':
      return typeof value === 'string' ? value : ''
    case 'date-time':
      return typeof value === 'string' ? toLocal(value) : ''
    case 'number':
      return typeof value === 'number' ? String(value) : ''
    case 'marked':
      return isObject(value) && typeof value['value'] === 'string' ? value['value'] : ''
    case 'boolean':
      return typeof value === 'boolean' ? value : untouched
    case 'json':
      return value === undefined ? '' : JSON.stringify(value, null, 2)
    case 'fixed':
      return untouched
    case 'choice': {
      const option = control.options.findIndex((one) => one.value === value)
      return { option: option < 0 ? null : option }
    }
    case 'checkboxes': {
      const values = Array.isArray(value) ? value : []
      return { checked: control.options.flatMap((one, index) => (values.includes(one.value) ? [index] : [])) }
    }
    default:
      return nestedDraft(control, value)
  }
}

type Nested = Extract<Control, { kind: 'object' | 'list' | 'tuple' | 'record' | 'nullable' | 'union' }>

function nestedDraft(control: Nested, value: Json | undefined): Draft {
  switch (control.kind) {
    case 'object':
      return { fields: fieldDrafts(control, value) }
    case 'list': {
      const items = Array.isArray(value) ? value : []
      const count = Math.max(items.length, rowsAtFirst(control))
      return {
        rows: Array.from({ length: count }, (_, id) => ({ id, draft: draftOf(control.item(), items[id]) })),
      }
    }
    case 'tuple': {
      const items = Array.isArray(value) ? value : []
      return { rows: control.items.map((item, id) => ({ id, draft: draftOf(item(), items[id]) })) }
    }
    case 'record':
      return {
        pairs: Object.entries(isObject(value) ? value : {}).map(([key, item], id) => ({
          id,
          key,
          draft: draftOf(control.item(), item),
        })),
      }
    case 'nullable':
      return nullableDraft(control.inner(), value)
    case 'union':
      return unionDraft(control, value)
  }
}

/** A nullable value with parts begins as null: like an optional part, it is opened on demand. */
function nullableDraft(inner: Control, value: Json | undefined): Draft {
  const isClosed = value === undefined && isNested(inner) && inner.initial === undefined
  return value === null || isClosed
    ? { isNull: true, inner: untouched }
    : { isNull: false, inner: draftOf(inner, value) }
}

/** Optional parts are opened on demand, which also ends the recursion of recursive schemas. */
function fieldDrafts(
  control: Extract<Control, { kind: 'object' }>,
  value: Json | undefined,
): { readonly [name: string]: Draft } {
  const values: JsonObject = isObject(value) ? value : {}
  const entries = control.fields.map((field): [string, Draft] => {
    const part = Object.hasOwn(values, field.name) ? values[field.name] : undefined
    const child = field.control()
    const isClosed = !field.isOpened && isNested(child) && part === undefined
    return [field.name, isClosed ? untouched : draftOf(child, part)]
  })
  return Object.fromEntries(entries)
}

function unionDraft(control: Extract<Control, { kind: 'union' }>, value: Json | undefined): Draft {
  const variant =
    value === undefined ? -1 : control.variants.findIndex((one) => accepts(one.control(), value))
  return {
    variant: variant < 0 ? null : variant,
    drafts: control.variants.map((one, index) =>
      index === variant ? draftOf(one.control(), value) : untouched,
    ),
  }
}

/** Whether a value looks like one of this control; roughly, since it only chooses what is shown first. */
function accepts(control: Control, value: Json): boolean {
  switch (control.kind) {
    case 'object':
      return (
        isObject(value) &&
        control.fields.every((field) => {
          const part = Object.hasOwn(value, field.name) ? value[field.name] : undefined
          return part === undefined ? !field.isRequired : accepts(field.control(), part)
        })
      )
    case 'fixed':
      return control.value === value
    case 'choice':
      return control.options.some((one) => one.value === value)
    case 'list':
    case 'tuple':
    case 'checkboxes':
      return Array.isArray(value)
    case 'number':
      return typeof value === 'number'
    case 'boolean':
      return typeof value === 'boolean'
    case 'json':
      return true
    case 'record':
    case 'marked':
      return isObject(value)
    case 'nullable':
      return value === null || accepts(control.inner(), value)
    case 'union':
      return control.variants.some((one) => accepts(one.control(), value))
    default:
      return typeof value === 'string'
  }
}

/** `2026-01-02T03:04` as a `datetime-local` field takes it, in the reader's time zone. */
function toLocal(instant: string): string {
  const date = new Date(instant)
  if (Number.isNaN(date.getTime())) return ''
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, date.getSeconds() === 0 ? 16 : 19)
}
