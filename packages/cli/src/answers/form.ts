import { type Control, controlOf, type Option, type Variant } from '@pawl/core/json-schema'
import { safe, safeJson } from '../output/out.ts'
import type { Choice, Terminal } from './terminal.ts'

// Asks for a value, one question for each part of its form.

interface Part {
  readonly label: string
  /** Path within the value, such as `where.town`; empty for the value itself. */
  readonly path: string
  readonly control: Control
  /** The value to begin with. */
  readonly initial: unknown
  readonly isRequired: boolean
  /** Whether text that is no JSON stays text, so that a name needs no quotes. */
  readonly isFree: boolean
}

/** Input that omits an optional part. */
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
  return await askWith(terminal, label, controlOf(schema), initial, schema === undefined)
}

/** Asks for a value of a control. */
export async function askWith(
  terminal: Terminal,
  label: string,
  control: Control,
  initial: unknown,
  isFree = false,
): Promise<unknown> {
  return await askPart(terminal, { label, path: '', control, initial, isRequired: true, isFree })
}

async function askPart(terminal: Terminal, given: Part): Promise<unknown> {
  const { control } = given
  const label = describe(given)
  const part = { ...given, label, initial: given.initial === undefined ? control.initial : given.initial }
  switch (control.kind) {
    case 'fixed':
      return control.value
    case 'choice':
      return askChoice(terminal, part, control.options.map(choiceOf))
    case 'boolean':
      return askChoice(
        terminal,
        part,
        [true, false].map((value) => choiceOf({ value, label: '' })),
      )
    case 'checkboxes':
      return askSeveral(terminal, part, control.options)
    case 'nullable':
      return askNullable(terminal, part, control.inner)
    case 'union':
      return askVariant(terminal, part, control.variants)
    case 'text':
    case 'date':
    case 'time':
    case 'date-time':
      return askText(terminal, part)
    case 'number':
      return askNumber(terminal, part, control.isInteger)
    case 'list':
      return askList(terminal, part, control.item)
    case 'object':
      return askObject(terminal, part, control)
    case 'tuple':
    case 'record':
    case 'marked':
    case 'json':
      return askJson(terminal, part)
  }
}

async function askChoice(
  terminal: Terminal,
  part: Part,
  options: readonly Choice<unknown>[],
): Promise<unknown> {
  const choices = part.isRequired ? options : [...options, { value: leftOut, label: 'No value' }]
  return terminal.choose(part.label, choices, part.isRequired ? part.initial : (part.initial ?? leftOut))
}

async function askSeveral(terminal: Terminal, part: Part, options: readonly Option[]): Promise<unknown> {
  const initial = Array.isArray(part.initial) ? (part.initial as readonly unknown[]) : []
  const picked = await terminal.chooseSeveral<unknown>(part.label, options.map(choiceOf), initial)
  return picked.length === 0 && !part.isRequired ? leftOut : picked
}

async function askNullable(terminal: Terminal, part: Part, inner: () => Control): Promise<unknown> {
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
    ...part,
    control: inner(),
    isRequired: true,
    initial: part.initial ?? undefined,
  })
}

/** A value that is there already is changed as JSON: nothing says which of the alternatives it is. */
async function askVariant(terminal: Terminal, part: Part, variants: readonly Variant[]): Promise<unknown> {
  if (part.initial !== undefined) return askJson(terminal, part)
  const choices: Choice<number>[] = variants.map(({ label }, index) => ({ value: index, label }))
  if (!part.isRequired) choices.push({ value: -1, label: 'No value' })
  const chosen = variants[await terminal.choose(part.label, choices, part.isRequired ? undefined : -1)]
  if (chosen === undefined) return leftOut
  return askPart(terminal, { ...part, control: chosen.control(), isRequired: true })
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

async function askList(terminal: Terminal, part: Part, item: () => Control): Promise<unknown> {
  // Values that are there already are changed as JSON, all at once.
  if (Array.isArray(part.initial) && part.initial.length > 0) return askJson(terminal, part)
  const found: unknown[] = []
  for (;;) {
    const more = found.length === 0 ? `${part.label}: add an item?` : `${part.label}: add another item?`
    if (!(await terminal.agree(more))) return found.length === 0 && !part.isRequired ? leftOut : found
    const number = found.length + 1
    const label = `${part.label} ${number}`
    const path = `${part.path} ${number}`.trimStart()
    found.push(
      await askPart(terminal, {
        ...part,
        label,
        path,
        control: item(),
        initial: undefined,
        isRequired: true,
      }),
    )
  }
}

async function askObject(
  terminal: Terminal,
  part: Part,
  { fields }: Extract<Control, { readonly kind: 'object' }>,
): Promise<unknown> {
  if (!part.isRequired && part.initial === undefined && !(await terminal.agree(`${part.label}: enter it?`)))
    return leftOut
  const initial: Readonly<Record<string, unknown>> = Object(part.initial)
  const found: [string, unknown][] = []
  for (const { name, isRequired, control } of fields) {
    const path = part.path === '' ? name : `${part.path}.${name}`
    const value = await askPart(terminal, {
      ...{ label: path, path, control: control(), isRequired, isFree: false },
      initial: Object.hasOwn(initial, name) ? initial[name] : undefined,
    })
    if (value !== leftOut) found.push([name, value])
  }
  return Object.fromEntries(found)
}

async function askJson(terminal: Terminal, part: Part): Promise<unknown> {
  const entered = await terminal.enter(part.label, {
    initial: part.initial === undefined ? '' : safeJson(part.initial),
    ...(part.isRequired ? { placeholder: 'JSON' } : placeholderOf(part)),
    check: (line) => {
      if (part.isFree || (line === '' && !part.isRequired)) return undefined
      return parse(line) === undefined ? 'Enter JSON, such as "text", 1, [1, 2] or {"a": 1}.' : undefined
    },
  })
  if (entered === '' && !part.isRequired) return leftOut
  const json = parse(entered)
  return json === undefined ? entered : json.value
}

function describe({ label, control: { title, description } }: Part): string {
  const name = title ?? label
  return description === undefined ? name : `${name} (${description})`
}

function placeholderOf({ isRequired }: Part): { readonly placeholder?: string } {
  return isRequired ? {} : { placeholder: 'none' }
}

function choiceOf({ value, label }: Option): Choice<unknown> {
  return { value, label: typeof value === 'boolean' ? (value ? 'Yes' : 'No') : label }
}

/** Undefined if the text is no JSON: null is JSON too. */
function parse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    return undefined
  }
}
