import type { JsonValue } from '@pawl/core/json-schema'

/** A part of a schema that refers to others, and what every door has to make of it. */
export interface Referring {
  readonly name: string
  /** The schema of an object with one required property, `part`. */
  readonly schema: { readonly [word: string]: JsonValue }
  /** What a person fills in for the part: its fields, a line of text, or JSON. */
  readonly entry: 'object' | 'text' | 'json'
  /** Whether the part has a field of its own. Otherwise the form would have too many, and all of it is JSON. */
  readonly hasField: boolean
  readonly label: string
  readonly initial?: string
  readonly valid: readonly JsonValue[]
  readonly invalid: readonly JsonValue[]
}

const word = { type: 'string', minLength: 2 }

function row(
  name: string,
  part: JsonValue,
  definitions: { readonly [word: string]: JsonValue },
  expected: Partial<Referring> = {},
): Referring {
  const schema = { type: 'object', properties: { part }, required: ['part'], ...definitions }
  const usual = { entry: 'text', hasField: true, label: 'part', valid: ['ab'], invalid: ['a', 7] } as const
  return { ...usual, ...expected, name, schema }
}

const anything = { entry: 'json', valid: ['a', 7, null, { part: [] }], invalid: [] } as const
const needsItself = {
  type: 'object',
  properties: { next: { $ref: '#/$defs/node' } },
  required: ['next'],
} as const

/** 22 levels of two parts each: four million, if all of them were looked at. */
function doubling(): { readonly [word: string]: JsonValue } {
  const levels = Array.from({ length: 22 }, (_, level): [string, JsonValue] => {
    const next = { $ref: `#/$defs/l${level + 1}` }
    return [`l${level}`, { type: 'object', properties: { a: next, b: next }, required: ['a', 'b'] }]
  })
  return Object.fromEntries([...levels, ['l22', word]])
}

/** A chain of references to references, longer than the stack is deep. */
function chain(length: number): { readonly [word: string]: JsonValue } {
  const links = Array.from({ length }, (_, n): [string, JsonValue] => [
    `c${n}`,
    { $ref: `#/$defs/c${n + 1}` },
  ])
  return Object.fromEntries([...links, [`c${length}`, word]])
}

export const referringSchemas: readonly Referring[] = [
  row('refers to `$defs`', { $ref: '#/$defs/word' }, { $defs: { word } }),
  row('refers to `definitions`', { $ref: '#/definitions/word' }, { definitions: { word } }),
  row('refers to an anchor', { $ref: '#word' }, { $defs: { word: { ...word, $anchor: 'word' } } }),
  row('refers to a name with a slash', { $ref: '#/$defs/a~1b' }, { $defs: { 'a/b': word, a: { b: false } } }),
  row('refers to a name with a tilde', { $ref: '#/$defs/a~01' }, { $defs: { 'a~1': word } }),
  row('refers to a name with a percent sign', { $ref: '#/$defs/a%25b' }, { $defs: { 'a%b': word } }),
  row(
    'refers to a name with a percent sign that encodes nothing',
    { $ref: '#/$defs/%zz' },
    { $defs: { '%zz': word } },
  ),
  row('refers to a reference', { $ref: '#/$defs/a' }, { $defs: { a: { $ref: '#/$defs/word' }, word } }),
  row('refers to the end of 30,000 references', { $ref: '#/$defs/c0' }, { $defs: chain(30_000) }),
  row(
    'has a title and a default of its own',
    { $ref: '#/$defs/word', title: 'Name', default: 'Ada' },
    { $defs: { word: { ...word, title: 'Word', default: 'none' } } },
    { label: 'Name', initial: 'Ada' },
  ),
  row(
    'has the title and the default of its target',
    { $ref: '#/$defs/word' },
    { $defs: { word: { ...word, title: 'Word', default: 'none' } } },
    { label: 'Word', initial: 'none' },
  ),
  row(
    'adds a limit to its target',
    { $ref: '#/$defs/word', maxLength: 4 },
    { $defs: { word } },
    { invalid: ['a', 'abcde'] },
  ),
  row(
    'limits what its target limits too',
    { $ref: '#/$defs/word', minLength: 4 },
    { $defs: { word } },
    { entry: 'json', valid: ['abcd'], invalid: ['a', 'abc'] },
  ),
  row(
    'adds properties to its target',
    { $ref: '#/$defs/named', properties: { age: { type: 'number' } }, required: ['age'] },
    { $defs: { named: { type: 'object', properties: { name: word } } } },
    { entry: 'json', valid: [{ age: 1, name: 'ab' }], invalid: [{ name: 'ab' }, { age: 1, name: 'a' }] },
  ),
  row(
    'requires what its target names',
    { $ref: '#/$defs/named', required: ['name'] },
    { $defs: { named: { type: 'object', properties: { name: word } } } },
    { entry: 'object', valid: [{ name: 'ab' }], invalid: [{}, { name: 'a' }] },
  ),
  row(
    'may contain itself',
    { $ref: '#/$defs/node' },
    {
      $defs: {
        node: {
          type: 'object',
          properties: { name: word, next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] } },
          required: ['name', 'next'],
        },
      },
    },
    {
      entry: 'object',
      valid: [{ name: 'ab', next: { name: 'cd', next: null } }],
      invalid: [{ name: 'ab', next: { name: 'c', next: null } }],
    },
  ),
  row(
    'has to contain itself',
    { $ref: '#/$defs/node' },
    { $defs: { node: needsItself } },
    { entry: 'json', hasField: false, valid: [], invalid: [{ next: {} }] },
  ),
  row(
    'doubles at 22 levels',
    { $ref: '#/$defs/l0' },
    { $defs: doubling() },
    { entry: 'json', hasField: false, valid: [], invalid: [{ a: 1 }] },
  ),
  row('refers to what is missing', { $ref: '#/$defs/none' }, {}, anything),
  row('refers to another document', { $ref: 'https://other.example/word' }, {}, anything),
  row('refers to itself', { $ref: '#/properties/part' }, {}, anything),
  row(
    'refers to two that refer to each other',
    { $ref: '#/$defs/a' },
    { $defs: { a: { $ref: '#/$defs/b', title: 'A' }, b: { $ref: '#/$defs/a' } } },
    anything,
  ),
]
