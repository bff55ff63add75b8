import { isJson } from './walk.ts'

/**
 * Gives equal values the same key. What contains others is named by the keys of its parts, each of which is made once:
 * the cost is linear in the size of a value, also if lists within lists are compared at every level.
 */
export class ItemKeys {
  readonly #names = new Map<string, string>()
  readonly #known = new Map<object, string | null>()

  /** Returns the key of a value; null for one that JSON does not have, which equals no other. */
  of(value: unknown): string | null {
    switch (typeof value) {
      case 'string':
      case 'boolean':
        return JSON.stringify(value)
      case 'number':
        return Number.isFinite(value) ? JSON.stringify(value) : null
      case 'object':
        return value === null ? 'null' : this.#ofObject(value)
      default:
        return null
    }
  }

  #ofObject(value: object): string | null {
    const known = this.#known.get(value)
    if (known !== undefined) return known
    const parts = Array.isArray(value) ? this.#ofItems(value) : this.#ofMembers(value)
    const key = parts === null ? null : this.#nameOf(parts)
    this.#known.set(value, key)
    return key
  }

  #ofItems(items: readonly unknown[]): string | null {
    const keys = items.map((item) => this.of(item))
    return keys.includes(null) ? null : `[${keys.join()}]`
  }

  #ofMembers(value: object): string | null {
    if (!isJson(value) || ![Object.prototype, null].includes(Object.getPrototypeOf(value))) return null
    const names = Object.keys(value).sort()
    const keys = names.map((name) => this.of(value[name]))
    if (keys.includes(null)) return null
    return `{${names.map((name, at) => `${JSON.stringify(name)}:${keys[at]}`).join()}}`
  }

  #nameOf(parts: string): string {
    const name = this.#names.get(parts) ?? `#${this.#names.size}`
    this.#names.set(parts, name)
    return name
  }
}
