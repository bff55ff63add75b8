import { type Segment, showPath } from './path.ts'

/** A value that cannot be recorded. Nothing was written. @example 'result.items[3].fn is a function' */
export class PayloadRefused extends Error {
  /** Where it stands, from the label on. @example 'result.items[3].fn' */
  readonly path: string
  /** What is wrong with it. @example 'is a function' */
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

/** What to do with an object that has fields of its own meaning, by the name of its class. */
const remedies: Readonly<Record<string, string>> = {
  Promise: 'await it',
  RegExp: 'give its source and flags',
  URL: 'give its href',
  URLSearchParams: 'give it as a string',
  Headers: 'give Object.fromEntries(headers)',
  Response: 'await its json(), text() or bytes()',
  ArrayBuffer: 'give new Uint8Array(buffer)',
  SharedArrayBuffer: 'give a copy: new Uint8Array(buffer)',
  DataView: 'give its bytes as a Uint8Array',
  Boolean: 'give the plain boolean',
  Number: 'give the plain number',
  String: 'give the plain string',
  WeakMap: 'nobody can list its entries',
  WeakSet: 'nobody can list its items',
  WeakRef: 'give what it refers to',
  // Those of this realm are accepted; so these come from another one, or are not what they say.
  Date: 'of another realm: give new Date(date)',
  Map: 'of another realm: give new Map(map)',
  Set: 'of another realm: give new Set(set)',
}

/** Why an object of that class is refused. */
export function describeInstance(value: object, className: string): string {
  if (value instanceof Error)
    return `is an Error (${className}): give its name, message and code as a plain object`
  if (className === '' || className === 'Object')
    return `has a prototype that is not that of plain objects${kindOf(value)}`
  const remedy = remedies[className] ?? 'give its fields as a plain object'
  return `is an instance of the class ${className}: ${remedy}`
}

/** What the value calls itself, such as a Generator, which has no class. */
function kindOf(value: object): string {
  const kind = Object.prototype.toString.call(value).slice('[object '.length, -1)
  if (kind === 'Object') return ''
  return ` (it is ${/^[AEIOU]/.test(kind) ? 'an' : 'a'} ${kind})`
}

/** The name of the class a prototype belongs to, or '' where it has none. */
export function classNameOf(prototype: object): string {
  const { constructor: maker } = prototype as { readonly constructor?: unknown }
  const name = typeof maker === 'function' ? maker.name : ''
  return typeof name === 'string' ? name : ''
}
