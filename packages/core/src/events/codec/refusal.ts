import { type Segment, showPath } from './path.ts'

/** A value cannot be recorded; nothing was written. @example 'result.items[3].fn is a function' */
export class PayloadRefused extends Error {
  /** The path of the part, starting with the label. @example 'result.items[3].fn' */
  readonly path: string
  /** What is wrong with the part. @example 'is a function' */
  readonly reason: string

  constructor(path: string, reason: string) {
    super(`${path} ${reason}`)
    this.name = 'PayloadRefused'
    this.path = path
    this.reason = reason
  }
}

export function refuse(label: string, trail: readonly Segment[], reason: string): never {
  throw new PayloadRefused(showPath(label, trail), reason)
}

/** Remedies for objects with internal state, by class name. */
const remedies: Readonly<Record<string, string>> = {
  Promise: 'await it',
  RegExp: 'pass its source and flags',
  URL: 'pass its href',
  URLSearchParams: 'pass it as a string',
  Headers: 'pass Object.fromEntries(headers)',
  Response: 'await its json(), text() or bytes()',
  ArrayBuffer: 'pass new Uint8Array(buffer)',
  SharedArrayBuffer: 'pass a copy: new Uint8Array(buffer)',
  DataView: 'pass its bytes as a Uint8Array',
  Boolean: 'pass the plain boolean',
  Number: 'pass the plain number',
  String: 'pass the plain string',
  WeakMap: 'its entries cannot be listed',
  WeakSet: 'its items cannot be listed',
  WeakRef: 'pass the object it refers to',
  // This realm's classes are accepted, so these belong to another realm, or only claim the name.
  Date: 'of another realm: pass new Date(date)',
  Map: 'of another realm: pass new Map(map)',
  Set: 'of another realm: pass new Set(set)',
}

/** Says why an object of a class is rejected. */
export function describeInstance(value: object, className: string): string {
  if (value instanceof Error)
    return `is an Error (${className}): pass its name, message and code as a plain object`
  if (className === '' || className === 'Object')
    return `has a prototype other than that of plain objects${kindOf(value)}`
  const remedy = remedies[className] ?? 'pass its fields as a plain object'
  return `is an instance of the class ${className}: ${remedy}`
}

/** Returns the value's string tag, such as Generator, which has no class. */
function kindOf(value: object): string {
  const kind = Object.prototype.toString.call(value).slice('[object '.length, -1)
  if (kind === 'Object') return ''
  return ` (it is ${/^[AEIOU]/.test(kind) ? 'an' : 'a'} ${kind})`
}

/** Returns the class name of a prototype, or '' if it has none. */
export function classNameOf(prototype: object): string {
  const { constructor: maker } = prototype as { readonly constructor?: unknown }
  const name = typeof maker === 'function' ? maker.name : ''
  return typeof name === 'string' ? name : ''
}
