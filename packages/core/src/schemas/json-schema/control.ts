import type { Json } from './walk.ts'

/** A value of JSON. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue }

/**
 * What a person fills in for one part of a value. Every door draws its form from these: the inbox, links, the command line.
 * The parts of a part are made when they are asked for: schemas can be recursive.
 */
export type Control = Described & Shape

export interface Described {
  readonly title?: string
  readonly description?: string
  /** The value to begin with. */
  readonly initial?: JsonValue
  /** The schema it was made from, without `$ref`. The same object wherever the schema refers to it without more. */
  readonly schema?: Json
}

/** One of the values that can be chosen. */
export interface Option {
  readonly value: JsonValue
  readonly label: string
}

/** A property of an object. */
export interface Field {
  readonly name: string
  readonly isRequired: boolean
  /** Whether the form shows its parts from the beginning. */
  readonly isOpened: boolean
  readonly control: () => Control
}

/** One of several forms that a value can have. */
export interface Variant {
  readonly label: string
  readonly control: () => Control
}

export type Shape =
  | {
      readonly kind: 'text'
      readonly type: 'text' | 'email' | 'url'
      readonly isLong: boolean
      readonly minLength?: number
      readonly maxLength?: number
    }
  | { readonly kind: 'date' | 'time' | 'date-time' }
  | { readonly kind: 'number'; readonly isInteger: boolean; readonly min?: number; readonly max?: number }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'choice'; readonly options: readonly Option[] }
  | { readonly kind: 'checkboxes'; readonly options: readonly Option[] }
  | { readonly kind: 'object'; readonly fields: readonly Field[] }
  | { readonly kind: 'list'; readonly item: () => Control; readonly min: number; readonly max: number }
  | { readonly kind: 'tuple'; readonly items: readonly (() => Control)[] }
  | { readonly kind: 'record'; readonly item: () => Control }
  | { readonly kind: 'nullable'; readonly inner: () => Control }
  | { readonly kind: 'union'; readonly variants: readonly Variant[] }
  | { readonly kind: 'fixed'; readonly value: JsonValue }
  | { readonly kind: 'marked'; readonly type: 'date' | 'bigint' }
  | { readonly kind: 'json' }

/** The rows that a list without a value begins with. */
export function rowsAtFirst({ min }: { readonly min: number }): number {
  return Math.min(min, 100)
}

/** Returns whether a control has parts of its own. */
export function isNested(control: Control): control is Extract<Control, { readonly kind: NestedKind }> {
  return nestedKinds.some((kind) => kind === control.kind)
}

type NestedKind = (typeof nestedKinds)[number]
const nestedKinds = ['object', 'tuple', 'record', 'union', 'nullable', 'list'] as const

export function labelOf(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
