import type { Answer, Ask } from '@pawl/core'
import { type Control, controlOf, controlOfValue, propertyControl } from '@pawl/core/json-schema'
import { writePayload } from '../json/payload.ts'

/** A field of the form behind a link. Forms need no script, so anything but a scalar is edited as JSON. */
export interface Field {
  /** Its name in the form, which begins with `field.`. */
  readonly name: string
  readonly label: string
  readonly type: 'text' | 'number' | 'choice' | 'json'
  /** The values of a choice. */
  readonly options: readonly string[]
  readonly isRequired: boolean
  /** The text it begins with. */
  readonly text: string
}

/** The fields of an ask: its data, or the params or artifact that may be edited. */
export function fieldsOf(ask: Ask): readonly Field[] {
  if (ask.kind === 'input') return inputFields(controlOf(ask.schema), ask.initial)
  if (ask.kind === 'approve') {
    const params = (ask.params ?? {}) as Readonly<Record<string, unknown>>
    return ask.editable.map((name) => {
      const control = propertyControl(ask.schema, name) ?? controlOfValue(params[name])
      return fieldOf(`params.${name}`, name, control, params[name], true)
    })
  }
  if (ask.kind === 'review' && ask.editable.includes('artifact'))
    return [fieldOf('artifact', 'Your version', controlOfValue(ask.artifact), ask.artifact, true)]
  return []
}

/** Maximum number of fields of a form. Data with more is one field of JSON. */
const maxFields = 200

function inputFields(control: Control, initial: unknown): readonly Field[] {
  if (control.kind !== 'object' || control.fields.length > maxFields)
    return [fieldOf('value', control.title ?? 'Answer', control, initial, true)]
  const begun = (initial ?? {}) as Readonly<Record<string, unknown>>
  return control.fields.map((field) => {
    const own = field.control()
    const value = Object.hasOwn(begun, field.name) ? begun[field.name] : undefined
    return fieldOf(`value.${field.name}`, own.title ?? field.name, own, value, field.isRequired)
  })
}

function fieldOf(name: string, label: string, control: Control, value: unknown, isRequired: boolean): Field {
  const { type, options } = entryOf(control)
  const first = value === undefined ? (control.kind === 'fixed' ? control.value : control.initial) : value
  const isText = type === 'text' || (type === 'choice' && control.kind === 'choice')
  const text = first === undefined ? '' : isText && typeof first === 'string' ? first : toJson(first)
  return { name: `field.${name}`, label, type, options, isRequired, text }
}

function entryOf(control: Control): Pick<Field, 'type' | 'options'> {
  switch (control.kind) {
    case 'text':
    case 'date':
    case 'time':
    case 'date-time':
      return { type: 'text', options: [] }
    case 'number':
      return { type: 'number', options: [] }
    case 'boolean':
      return { type: 'choice', options: ['true', 'false'] }
    case 'choice': {
      const texts = control.options.map(({ value }) => value).filter((value) => typeof value === 'string')
      const isPicked = texts.length > 0 && texts.length === control.options.length
      return isPicked ? { type: 'choice', options: texts } : { type: 'json', options: [] }
    }
    case 'fixed':
    case 'checkboxes':
    case 'object':
    case 'list':
    case 'tuple':
    case 'record':
    case 'nullable':
    case 'union':
    case 'marked':
    case 'json':
      return { type: 'json', options: [] }
  }
}

function toJson(value: unknown): string {
  return JSON.stringify(writePayload(value), null, 2)
}

/** Browsers send every line break as two characters. */
function toLines(text: string): string {
  return text.replaceAll('\r\n', '\n')
}

/** The entered texts, by the names of their fields. */
export type Given = Readonly<Record<string, string>>

export function givenIn(form: URLSearchParams, fields: readonly Field[]): Given {
  const said = fields.map(({ name, text }) => [name, toLines(form.get(name) ?? text)])
  return Object.fromEntries(said)
}

/** Whether the person has typed something else than what the field began with. */
export function isChanged({ name, text }: Field, given: Given): boolean {
  return given[name] !== toLines(text)
}

/** The parts of an answer that the fields hold. Params and an artifact are sent only if they were changed. */
export function partsOf({ kind }: Ask, fields: readonly Field[], given: Given): Partial<Answer> {
  if (kind === 'input') return { value: inputOf(fields, given) } as Partial<Answer>
  const changed = fields.filter((field) => isChanged(field, given))
  if (changed.length === 0) return {}
  const values = changed.map((field) => [lastOf(field), readField(field, given[field.name] ?? '')])
  if (kind === 'approve') return { params: Object.fromEntries(values) } as Partial<Answer>
  return { artifact: values[0]?.[1] } as Partial<Answer>
}

function inputOf(fields: readonly Field[], given: Given): unknown {
  const [only] = fields
  if (only?.name === 'field.value') return readField(only, given[only.name] ?? '')
  // A field that is left empty is left out; a required one is then refused with the reason.
  const filled = fields.filter(({ name }) => given[name] !== '')
  return Object.fromEntries(filled.map((field) => [lastOf(field), readField(field, given[field.name] ?? '')]))
}

function lastOf({ name }: Field): string {
  return name.replace(/^field\.(params|value)\./, '')
}

/** Reads the text of a field. Unreadable text stays text: the schema of the ask refuses it with the reason. */
function readField({ type, options }: Field, text: string): unknown {
  if (type === 'text') return text
  if (type === 'number') return /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text.trim()) ? Number(text) : text
  if (type === 'choice')
    return options.join() === 'true,false' && options.includes(text) ? text === 'true' : text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
