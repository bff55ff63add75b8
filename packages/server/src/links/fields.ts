import type { Answer, Ask } from '@pawl/core'
import { writePayload } from '../json/payload.ts'

/** A field of the form behind a link. Forms need no script, so anything but a scalar is edited as JSON. */
export interface Field {
  /** Its name in the form, which begins with `field.`. */
  readonly name: string
  readonly label: string
  readonly type: 'text' | 'number' | 'choice' | 'json'
  /** For a choice: the values that can be picked. */
  readonly options: readonly string[]
  readonly isRequired: boolean
  /** The text it begins with. */
  readonly text: string
}

interface Known {
  readonly type?: unknown
  readonly enum?: readonly unknown[]
  readonly properties?: Readonly<Record<string, Known>>
  readonly required?: readonly string[]
  readonly title?: string
}

/** The fields of an ask: its data, or the params or artifact that may be edited. */
export function fieldsOf(ask: Ask): readonly Field[] {
  const schema = (ask.schema ?? {}) as Known
  if (ask.kind === 'input') return inputFields(schema, ask.initial)
  if (ask.kind === 'approve') {
    const params = (ask.params ?? {}) as Readonly<Record<string, unknown>>
    return ask.editable.map((name) =>
      fieldOf(`params.${name}`, name, schema.properties?.[name] ?? shapeOf(params[name]), params[name], true),
    )
  }
  if (ask.kind === 'review' && ask.editable.includes('artifact'))
    return [fieldOf('artifact', 'Your version', shapeOf(ask.artifact), ask.artifact, true)]
  return []
}

/** Maximum number of fields of a form. Data with more is one field of JSON. */
const maxFields = 200

function inputFields(schema: Known, initial: unknown): readonly Field[] {
  const { properties, required = [] } = schema
  const begun = (initial ?? {}) as Readonly<Record<string, unknown>>
  if (properties === undefined || Object.keys(properties).length > maxFields)
    return [fieldOf('value', schema.title ?? 'Answer', schema, initial, true)]
  return Object.entries(properties).map(([name, known]) =>
    fieldOf(`value.${name}`, known.title ?? name, known, begun[name], required.includes(name)),
  )
}

function fieldOf(name: string, label: string, known: Known, value: unknown, isRequired: boolean): Field {
  const isEnum = known.enum?.every((one) => typeof one === 'string') === true
  const options = isEnum
    ? (known.enum as readonly string[])
    : known.type === 'boolean'
      ? ['true', 'false']
      : []
  const type = options.length > 0 ? 'choice' : (types[String(known.type)] ?? 'json')
  const isText = type === 'text' || isEnum
  const text = value === undefined ? '' : isText && typeof value === 'string' ? value : toJson(value)
  return { name: `field.${name}`, label, type, options, isRequired, text }
}

const types: Readonly<Record<string, Field['type']>> = { string: 'text', number: 'number', integer: 'number' }

function shapeOf(value: unknown): Known {
  return { type: typeof value }
}

function toJson(value: unknown): string {
  return JSON.stringify(writePayload(value), null, 2)
}

/** Browsers send every line break as two characters. */
function toLines(text: string): string {
  return text.replaceAll('\r\n', '\n')
}

/** What a form says, by the name of its field. */
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

/** What cannot be read stays a text, which the schema of the ask refuses with the reason. */
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
