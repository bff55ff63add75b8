import { safe, safeJson } from '../output/out.ts'
import { nullable, resolve, type Schema, toSchema } from './json-schema.ts'
import type { Choice, Terminal } from './terminal.ts'

// Asks for a value, one question for each part of its JSON Schema.

interface Part {
  readonly label: string
  /** Where it is in the value, such as `where.town`; empty for the value itself. */
  readonly path: string
  readonly schema: unknown
  readonly root: unknown
  /** The value to begin with. */
  readonly initial: unknown
  readonly isRequired: boolean
  /** The parts around it. */
  readonly depth: number
}

/** Parts below it are entered as JSON: a schema can contain itself. */
const maxDepth = 12

/** What a part is left out with. */
const leftOut = Symbol('left out')

/**
 * Asks for a value of a JSON Schema. Parts that no question can express are entered as JSON. The answer is checked by the store
 * afterwards, so a question checks only what it must to make a value of the right type.
 */
export async function askForValue(
  terminal: Terminal,
  label: string,
  schema: unknown,
  initial: unknown,
): Promise<unknown> {
  return await askPart(terminal, {
    label,
    path: '',
    schema,
    root: schema,
    initial,
    isRequired: true,
    depth: 0,
  })
}

async function askPart(terminal: Terminal, given: Part): Promise<unknown> {
  const schema = resolve(given.schema, given.root)
  if (schema === undefined || given.depth > maxDepth) return askJson(terminal, given)
  const label = describe(given, schema)
  const part = { ...given, initial: given.initial === undefined ? schema['default'] : given.initial }
  if ('const' in schema) return schema['const']
  const { enum: values } = schema
  if (Array.isArray(values) && values.every(isScalar)) return askChoice(terminal, { ...part, label }, values)
  const inner = nullable(schema)
  if (inner !== undefined) return askNullable(terminal, { ...part, label, schema: inner })
  switch (schema['type']) {
    case 'boolean':
      return askChoice(terminal, { ...part, label }, [true, false])
    case 'string':
      return askText(terminal, { ...part, label })
    case 'number':
    case 'integer':
      return askNumber(terminal, { ...part, label }, schema['type'] === 'integer')
    case 'array':
      return askList(terminal, { ...part, label }, schema)
    case 'object':
      return askObject(terminal, { ...part, label }, schema)
    default:
      return askJson(terminal, { ...part, label })
  }
}

async function askChoice(terminal: Terminal, part: Part, values: readonly unknown[]): Promise<unknown> {
  const choices: Choice<unknown>[] = values.map((value) => ({ value, label: labelOf(value) }))
  if (!part.isRequired) choices.push({ value: leftOut, label: 'No value' })
  return terminal.choose(part.label, choices, part.isRequired ? part.initial : (part.initial ?? leftOut))
}

async function askNullable(terminal: Terminal, part: Part): Promise<unknown> {
  const hasValue = part.initial !== null && part.initial !== undefined
  const answered = await terminal.choose(
    part.label,
    [
      { value: 'value', label: 'Enter a value' },
      { value: 'null', label: 'No value (null)' },
      ...(part.isRequired ? [] : [{ value: 'leave', label: 'Leave it out' }]),
    ],
    hasValue ? 'value' : part.initial === null ? 'null' : part.isRequired ? 'value' : 'leave',
  )
  if (answered === 'null') return null
  if (answered === 'leave') return leftOut
  return askPart(terminal, {
    ...{ ...part, isRequired: true, initial: part.initial ?? undefined },
    depth: part.depth + 1,
  })
}

async function askText(terminal: Terminal, part: Part): Promise<unknown> {
  // JSON has a code for each control character.
  if (typeof part.initial === 'string' && safe(part.initial) !== part.initial) return askJson(terminal, part)
  const entered = await terminal.enter(part.label, {
    ...(typeof part.initial === 'string' ? { initial: part.initial } : {}),
    ...placeholderOf(part),
  })
  return entered === '' && !part.isRequired ? leftOut : entered
}

async function askNumber(terminal: Terminal, part: Part, isInteger: boolean): Promise<unknown> {
  const entered = await terminal.enter(part.label, {
    ...(typeof part.initial === 'number' ? { initial: String(part.initial) } : {}),
    ...placeholderOf(part),
    check: (line) => (line === '' && !part.isRequired ? undefined : wrongNumber(line, isInteger)),
  })
  return entered === '' ? leftOut : Number(entered)
}

/** A number is stored exactly as it was entered, or refused. */
function wrongNumber(line: string, isInteger: boolean): string | undefined {
  const text = line.trim()
  const value = Number(text)
  if (text === '' || !Number.isFinite(value)) return 'Enter a number.'
  if (isInteger && !Number.isInteger(value)) return 'Enter a whole number.'
  if (Number.isInteger(value) && !Number.isSafeInteger(value))
    return 'The number has too many digits to be stored exactly.'
  return undefined
}

async function askList(terminal: Terminal, part: Part, schema: Schema): Promise<unknown> {
  const items = resolve(schema['items'], part.root)
  if (items === undefined || 'prefixItems' in schema) return askJson(terminal, part)
  const { enum: values } = items
  const initial = Array.isArray(part.initial) ? (part.initial as readonly unknown[]) : []
  if (Array.isArray(values) && values.every(isScalar)) {
    const choices = values.map((value) => ({ value, label: labelOf(value) }))
    const picked = await terminal.chooseSeveral(part.label, choices, initial)
    return picked.length === 0 && !part.isRequired ? leftOut : picked
  }
  // Values that are there already are changed as JSON, all at once.
  if (initial.length > 0) return askJson(terminal, part)
  const found: unknown[] = []
  for (;;) {
    const more = found.length === 0 ? `${part.label}: add an item?` : `${part.label}: add another item?`
    if (!(await terminal.agree(more))) return found.length === 0 && !part.isRequired ? leftOut : found
    const number = found.length + 1
    const schemaOfItem = schema['items']
    found.push(
      await askPart(terminal, {
        ...{ label: `${part.label} ${number}`, path: `${part.path} ${number}`.trimStart() },
        ...{ schema: schemaOfItem, root: part.root },
        ...{ initial: undefined, isRequired: true, depth: part.depth + 1 },
      }),
    )
  }
}

async function askObject(terminal: Terminal, part: Part, schema: Schema): Promise<unknown> {
  const properties = toSchema(schema['properties'])
  if (properties === undefined) return askJson(terminal, part)
  if (!part.isRequired && part.initial === undefined && !(await terminal.agree(`${part.label}: enter it?`)))
    return leftOut
  const required = Array.isArray(schema['required']) ? (schema['required'] as readonly unknown[]) : []
  const initial = toSchema(part.initial) ?? {}
  const found: [string, unknown][] = []
  for (const [name, of] of Object.entries(properties)) {
    const path = part.path === '' ? name : `${part.path}.${name}`
    const value = await askPart(terminal, {
      ...{ label: path, path, schema: of, root: part.root },
      initial: Object.hasOwn(initial, name) ? initial[name] : undefined,
      isRequired: required.includes(name),
      depth: part.depth + 1,
    })
    if (value !== leftOut) found.push([name, value])
  }
  return Object.fromEntries(found)
}

/** Asks for JSON. Without a schema, text that is no JSON stays text, so that a name needs no quotes. */
async function askJson(terminal: Terminal, part: Part): Promise<unknown> {
  const isFree = part.schema === undefined
  const entered = await terminal.enter(part.label, {
    initial: part.initial === undefined ? '' : safeJson(part.initial),
    ...(part.isRequired ? { placeholder: 'JSON' } : placeholderOf(part)),
    check: (line) => {
      if (isFree || (line === '' && !part.isRequired)) return undefined
      return parse(line) === undefined ? 'Enter JSON, such as "text", 1, [1, 2] or {"a": 1}.' : undefined
    },
  })
  if (entered === '' && !part.isRequired) return leftOut
  const json = parse(entered)
  return json === undefined ? entered : json.value
}

/** The schema of a value, for one that comes without. */
export function schemaLike(value: unknown): unknown {
  switch (typeof value) {
    case 'string':
    case 'number':
    case 'boolean':
      return { type: typeof value }
    default:
      return {}
  }
}

function describe({ label }: Part, { title, description }: Schema): string {
  const name = typeof title === 'string' ? title : label
  return typeof description === 'string' ? `${name} (${description})` : name
}

function placeholderOf({ isRequired }: Part): { readonly placeholder?: string } {
  return isRequired ? {} : { placeholder: 'none' }
}

function isScalar(value: unknown): boolean {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value)
}

function labelOf(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'Yes' : 'No'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Undefined if the text is no JSON: null is JSON too. */
function parse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    return undefined
  }
}
