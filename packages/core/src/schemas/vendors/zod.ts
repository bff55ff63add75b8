// Reads the internals of zod (`_zod.def`). Tested with zod 4.2, 4.3, 4.4 and 4.6;
// test/schemas/zod.test.ts does not compile if zod adds a type.

interface ZodType {
  readonly _zod: { readonly def: ZodDefinition; readonly optin?: string | undefined }
}
interface ZodDefinition {
  readonly type: string
  readonly checks?: readonly { readonly _zod: { readonly def: ZodCheck } }[]
  readonly [part: string]: unknown
}
interface ZodCheck {
  readonly check: string
  readonly pattern?: unknown
}

export function isZodType(value: unknown): value is ZodType {
  return ((typeof value === 'object' && value !== null) || typeof value === 'function') && '_zod' in value
}

// ── parts of a type

const transformingTypes: readonly string[] = ['transform', 'success']

export function findsZodTransform(schema: unknown): boolean {
  return findsPart(
    schema,
    (def) =>
      transformingTypes.includes(def.type) || (def.type === 'pipe' && typeof def['transform'] === 'function'),
  )
}

/** Types and checks that run code, or wait for a promise, without a function in their definition. */
const runningParts: readonly unknown[] = ['custom', 'promise']
/** Functions and getters that zod itself adds to a definition: the condition of a check, and the members of an object. */
const ownMembers: readonly string[] = ['when', 'shape']

/**
 * Returns whether a zod schema may run its author's code: to check, to transform, for a default or for a message.
 * Zod keeps that code as a function, or behind a getter, in the definition of a part.
 */
export function findsZodCode(schema: unknown): boolean {
  return findsPart(schema, (def) => {
    if (runningParts.includes(def.type) || runningParts.includes(def['check'])) return true
    return Object.entries(Object.getOwnPropertyDescriptors(def)).some(
      ([name, { value, get }]) =>
        !ownMembers.includes(name) && (typeof value === 'function' || get !== undefined),
    )
  })
}

/** Searches all parts of a zod schema. */
function findsPart(
  part: unknown,
  isIt: (def: ZodDefinition) => boolean,
  seen: Set<unknown> = new Set(),
): boolean {
  if (typeof part !== 'object' || part === null || seen.has(part)) return false
  seen.add(part)
  if (!isZodType(part))
    return isPlain(part) && Object.values(part).some((inner) => findsPart(inner, isIt, seen))
  const { def } = part._zod
  if (isIt(def)) return true
  if (def.type === 'lazy') return findsPart((def['getter'] as () => unknown)(), isIt, seen)
  // A default may be the author's function; reading it would call it.
  const parts = Object.keys(def).filter((inner) => inner !== 'defaultValue')
  return parts.some((inner) => findsPart(def[inner], isIt, seen))
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return Array.isArray(value) || prototype === Object.prototype || prototype === null
}

// ── undefined

const acceptingTypes: readonly string[] = ['undefined', 'void', 'any', 'unknown', 'catch']
/** Their result depends on their own code, or on a type that may contain itself. */
const unknownTypes: readonly string[] = ['custom', 'lazy']
const transparentTypes: readonly string[] = ['nullable', 'readonly']

/** Returns whether a type accepts undefined. `ifUnknown` is the result for types that do not tell. */
export function acceptsUndefined(type: unknown, ifUnknown: boolean): boolean {
  if (!isZodType(type)) return false
  const { def, optin } = type._zod
  if (optin !== undefined || acceptingTypes.includes(def.type)) return true
  if (unknownTypes.includes(def.type) || def['coerce'] === true) return ifUnknown
  if (def.type === 'literal') return (def['values'] as readonly unknown[]).includes(undefined)
  if (def.type === 'union')
    return (def['options'] as readonly unknown[]).some((option) => acceptsUndefined(option, ifUnknown))
  return transparentTypes.includes(def.type) && acceptsUndefined(def['innerType'], ifUnknown)
}

// ── JSON Schema

/** The JSON Schema that zod generated for a type. */
interface ZodJson {
  readonly zodSchema: ZodType
  readonly jsonSchema: { [word: string]: unknown }
}

const constraints: readonly string[] = [
  ...['minLength', 'maxLength', 'pattern', 'format', 'allOf', 'minItems', 'maxItems'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
]
/** Types that accept more than the JSON Schema that zod generates for them. */
const widerTypes: readonly string[] = ['catch', 'success']
const patterns: readonly string[] = ['pattern', 'allOf']
/** Keywords without effect on validation. */
const annotations: readonly string[] = ['$schema', 'title', 'description', 'default', 'examples']

/**
 * Removes constraints from generated JSON Schema that would reject values the type accepts.
 * The process that receives an answer may have only the JSON Schema; if it rejected a valid answer, the ask could never
 * be answered.
 */
export function loosenJsonSchema({ zodSchema, jsonSchema }: ZodJson): void {
  const { def } = zodSchema._zod
  const checks = (def.checks ?? []).map((check) => check._zod.def)
  const takeOut = (words: readonly string[]): void => {
    for (const word of words) delete jsonSchema[word]
  }
  const isWider =
    def['coerce'] === true ||
    widerTypes.includes(def.type) ||
    (def.type === 'literal' && (def['values'] as readonly unknown[]).some(isBeyondJson))
  if (isWider) takeOut(Object.keys(jsonSchema).filter((word) => !annotations.includes(word)))
  // Constraints apply after trimming or lower-casing.
  if (checks.some(({ check }) => check === 'overwrite')) {
    takeOut(constraints)
    if (jsonSchema['type'] === 'integer') jsonSchema['type'] = 'number'
  }
  // JSON Schema patterns have no flags, and libraries differ on the flag u.
  if ([def['pattern'], ...checks.map(({ pattern }) => pattern)].some(hasFlags)) takeOut(patterns)
  // If JSON Schema expresses types only in part, several alternatives may match where one does.
  if (Array.isArray(jsonSchema['oneOf'])) {
    jsonSchema['anyOf'] = jsonSchema['oneOf']
    takeOut(['oneOf'])
  }
  // Property names are strings, even for a record with numeric keys.
  if (def.type === 'record' && hasNumbers((def['keyType'] as ZodType)._zod.def)) takeOut(['propertyNames'])
  const { required } = jsonSchema
  if (Array.isArray(required))
    jsonSchema['required'] = required.map(String).filter((key) => !acceptsUndefined(memberOf(def, key), true))
}

function memberOf(def: ZodDefinition, key: string): unknown {
  return def.type === 'record'
    ? def['valueType']
    : (def['shape'] as { readonly [key: string]: unknown })?.[key]
}

function hasNumbers(key: ZodDefinition): boolean {
  return (
    key.type === 'number' ||
    ((key['values'] ?? []) as readonly unknown[]).some((one) => typeof one === 'number')
  )
}

function isBeyondJson(value: unknown): boolean {
  return (
    typeof value === 'bigint' || value === undefined || (typeof value === 'number' && !Number.isFinite(value))
  )
}

function hasFlags(pattern: unknown): boolean {
  return pattern instanceof RegExp && /[imsuv]/.test(pattern.flags)
}
