import type { Place } from '../../base/issues.ts'

/** A JSON Schema, or a part of one. */
export type Json = { readonly [word: string]: unknown }

/** The `$ref`s that were followed to the schema at hand with the same value; null if none was. */
export type Trail = { readonly target: unknown; readonly before: Trail } | null

/** Checks a value by one schema. Returns whether it is valid, and reports issues if the walk is to report. */
export type Node = (value: unknown, place: Place, trail: Trail) => boolean

/** Checks one keyword. Of a kind of value that it is made for. */
export type Rule<Value = unknown> = (value: Value, place: Place, trail: Trail) => boolean

/** What the keywords need of the check that they belong to. */
export interface Walk {
  /** Whether issues are collected; otherwise the first misfit is enough. */
  readonly isReporting: boolean
  /** Whether the walk is over at the first misfit: nothing is reported, or enough is. */
  readonly isOver: boolean
  /** Whether the value holds `undefined` somewhere: then what only a misfit allows (`not`, `if`) is not judged. */
  readonly hasUndefined: boolean
  nodeOf(schema: unknown): Node
  /** Reports an issue. */
  refuse(place: Place, message: string): false
  /** A place inside another. */
  inside(place: Place, key: string | number): Place
  /** Checks a part of a value. */
  part(node: Node, value: unknown, place: Place, key: string | number): boolean
  /** Whether a value is valid, with nothing reported. */
  isValid(node: Node, value: unknown, trail: Trail): boolean
  /** The first issue with a value, as text; empty if it has none. */
  describe(node: Node, value: unknown, trail: Trail): string
  /** What a `$ref` of a schema means; undefined if it cannot be found. */
  resolve(ref: string, from: Json): unknown
  /** Checks a value by what a `$ref` means. */
  follow(target: unknown, value: unknown, place: Place, trail: Trail): boolean
}

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether a value can be a schema. */
export function isSchemaLike(value: unknown): boolean {
  return typeof value === 'boolean' || isJson(value)
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** The own members of an object that are defined: `undefined` says the same as nothing there. */
export function memberOf(value: Json, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined
}
