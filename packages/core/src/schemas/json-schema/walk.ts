import type { Place } from '../../base/issues.ts'

/** A JSON Schema, or a part of it. */
export type Json = { readonly [word: string]: unknown }

/** The `$ref`s followed for the current value; null if there are none. */
export type Trail = { readonly target: unknown; readonly before: Trail } | null

/** Checks a value against one schema. Returns whether it is valid; reports issues if the walk does. */
export type Node = (value: unknown, place: Place, trail: Trail) => boolean

/** Checks one keyword against a value of the kind it applies to. */
export type Rule<Value = unknown> = (value: Value, place: Place, trail: Trail) => boolean

/** The services of a check for its keywords. */
export interface Walk {
  /** Whether issues are collected; otherwise the check stops at the first one. */
  readonly isReporting: boolean
  /** Whether the check stops at the next issue: none are reported, or the list is full. */
  readonly isOver: boolean
  /** Whether the value contains `undefined`; if so, `not` and `if`, which depend on a mismatch, are not judged. */
  readonly hasUndefined: boolean
  nodeOf(schema: unknown): Node
  /** Reports an issue. */
  refuse(place: Place, message: string): false
  /** Returns a location inside another. */
  inside(place: Place, key: string | number): Place
  /** Checks a part of a value. */
  part(node: Node, value: unknown, place: Place, key: string | number): boolean
  /** Returns whether a value is valid, without reporting. */
  isValid(node: Node, value: unknown, trail: Trail): boolean
  /** Returns the first issue of a value as text; empty if there is none. */
  describe(node: Node, value: unknown, trail: Trail): string
  /** Returns what the `$ref` of a schema leads to; undefined if there is none, or if it is unknown. */
  targetOf(schema: Json): unknown
  /** Checks a value against the target of a `$ref`. */
  follow(target: unknown, value: unknown, place: Place, trail: Trail): boolean
}

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns whether a value can be a schema. */
export function isSchemaLike(value: unknown): boolean {
  return typeof value === 'boolean' || isJson(value)
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** Returns an own member of an object; undefined if it is missing. */
export function memberOf(value: Json, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined
}
