import { isJson, type Json } from './walk.ts'

/**
 * Resolves `$ref`s within one document. A schema with an `$id` is its own resource, and `#` refers to its root.
 * Compares `$id`s as text; relative ones are not resolved.
 */
export class References {
  readonly #root: Json
  #index: Index | null = null

  constructor(root: Json) {
    this.#root = root
  }

  resolve(ref: string, from: Json): unknown {
    const [base = '', fragment = ''] = ref.split('#', 2)
    this.#index ??= indexOf(this.#root)
    const resource = base === '' ? this.#index.resources.get(from) : this.#index.ids.get(base)
    if (resource === undefined || fragment === '') return resource
    return fragment.startsWith('/')
      ? follow(resource, fragment)
      : this.#index.anchors.get(resource)?.get(fragment)
  }
}

interface Index {
  readonly ids: Map<string, Json>
  /** The resource of each part of the document. */
  readonly resources: Map<object, Json>
  readonly anchors: Map<Json, Map<string, Json>>
}

function indexOf(root: Json): Index {
  const index: Index = { ids: new Map(), resources: new Map(), anchors: new Map() }
  visit(root, root, index)
  return index
}

function visit(part: unknown, around: Json, index: Index): void {
  if (Array.isArray(part)) for (const item of part) visit(item, around, index)
  if (!isJson(part)) return
  const { $id, $anchor } = part
  const resource = typeof $id === 'string' ? part : around
  if (typeof $id === 'string') index.ids.set($id.replace(/#$/, ''), part)
  index.resources.set(part, resource)
  if (typeof $anchor === 'string') {
    const known = index.anchors.get(resource) ?? new Map<string, Json>()
    index.anchors.set(resource, known.set($anchor, part))
  }
  for (const inner of Object.values(part)) visit(inner, resource, index)
}

/** Returns the target of a JSON pointer. */
function follow(resource: Json, pointer: string): unknown {
  const keys = pointer.split('/').slice(1).map(readKey)
  return keys.reduce<unknown>(
    (part, key) => (Object.hasOwn(Object(part), key) ? Object(part)[key] : undefined),
    resource,
  )
}

function readKey(text: string): string {
  return decode(text).replaceAll('~1', '/').replaceAll('~0', '~')
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
