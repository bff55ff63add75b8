import { isEqual } from '@pawl/core/internal'

// Notes what a procedure reads of an answer, so that outcomes which it cannot tell apart are explored once.

/** What was read of a value: paths into it, and whether the time at which it came was read. */
export class Reads {
  /** Paths whose value was read. An object there was only entered, unless its path is in `whole`. */
  readonly #entered = new Map<string, readonly string[]>()
  readonly #whole = new Map<string, readonly string[]>()
  readsTime = false
  #onTime: () => void = () => {}
  #onField: (name: string | undefined) => void = () => {}

  /**
   * Wraps a value so that reads of it are noted. Values without members are returned as they are. `onTime` is called when its
   * time is read, which tells how much time has passed before it, and `onField` with each field of it.
   */
  watch(value: unknown, onTime: () => void, onField: (name: string | undefined) => void = () => {}): unknown {
    this.#onTime = onTime
    this.#onField = onField
    this.#note(this.#entered, [])
    return this.#watch(value, [])
  }

  /** Whether two values agree in all that was read. */
  agree(a: unknown, b: unknown): boolean {
    for (const path of this.#whole.values()) if (!isEqual(pick(a, path), pick(b, path))) return false
    for (const path of this.#entered.values()) if (!areAlike(pick(a, path), pick(b, path))) return false
    return true
  }

  #watch(value: unknown, path: readonly string[]): unknown {
    if (!isPlain(value)) {
      if (typeof value === 'object' && value !== null) this.#note(this.#whole, path)
      return value
    }
    const known = new Map<string, unknown>()
    return new Proxy(value, {
      get: (target, key) => {
        const read: unknown = Reflect.get(target, key)
        if (typeof key !== 'string' || typeof read === 'function') return read
        const at = [...path, key]
        this.#note(this.#entered, at)
        // The same object at every read, as without this proxy.
        if (!known.has(key)) known.set(key, this.#watch(read, at))
        return known.get(key)
      },
      set: (target, key, written) => {
        known.delete(String(key))
        return Reflect.set(target, key, written)
      },
      has: (target, key) => {
        this.#note(this.#whole, path)
        return Reflect.has(target, key)
      },
      ownKeys: (target) => {
        this.#note(this.#whole, path)
        return Reflect.ownKeys(target)
      },
    })
  }

  #note(paths: Map<string, readonly string[]>, path: readonly string[]): void {
    paths.set(JSON.stringify(path), path)
    this.#onField(path[0])
    const isWhole = path.length === 0 && paths === this.#whole
    if (isWhole || (path.length === 1 && path[0] === 'at')) this.#onTime()
  }
}

/** Two objects that were only entered differ in nothing that was read. */
function areAlike(a: unknown, b: unknown): boolean {
  if (isPlain(a) && isPlain(b)) return Array.isArray(a) === Array.isArray(b)
  return isEqual(a, b)
}

function pick(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, key) => (Object(at) as Readonly<Record<string, unknown>>)[key], value)
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}
