/** Databases with a schema version, which note what is done to them. A call with a known key does nothing. */
export class Databases {
  readonly did: string[] = []
  readonly #versions = new Map([
    ['staging', 41],
    ['production', 41],
  ])
  readonly #seen = new Set<string>()
  readonly #broken: ReadonlySet<string>

  /** `broken`: the databases in which the next version does not work. */
  constructor(broken: readonly string[] = []) {
    this.#broken = new Set(broken)
  }

  version(name: string): number {
    return this.#versions.get(name) ?? 0
  }

  backUp(name: string, key: string): { readonly file: string; readonly version: number } {
    this.#once(key, `back up ${name}`, () => {})
    return { file: `${name}.dump`, version: this.version(name) }
  }

  migrate(name: string, version: number, key: string): number {
    this.#once(key, `migrate ${name} to ${version}`, () => this.#versions.set(name, version))
    return version
  }

  restore(name: string, backup: { readonly version: number }, key: string): void {
    this.#once(key, `restore ${name}`, () => this.#versions.set(name, backup.version))
  }

  check(name: string): { readonly version: number; readonly errors: number } {
    const version = this.version(name)
    return { version, errors: version > 41 && this.#broken.has(name) ? 312 : 0 }
  }

  #once(key: string, what: string, act: () => void): void {
    if (this.#seen.has(key)) return
    this.#seen.add(key)
    this.did.push(what)
    act()
  }
}
