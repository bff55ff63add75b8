import type { Implementation } from './implement.ts'

/** How each member of a facade is made, of the parts of its object. */
export type Makers<T, Parts> = { readonly [K in keyof T]-?: (parts: Parts) => Implementation<T>[K] }

/**
 * Returns a function that creates a facade whose members are made when they are first read: an unused member costs nothing.
 * A member does not need its object, as in `const { step } = ctx`.
 */
export function createLazily<T, Parts>(makers: Makers<T, Parts>): (parts: Parts) => T {
  class Facade {
    readonly #parts: Parts

    constructor(parts: Parts) {
      this.#parts = parts
    }

    static {
      for (const name of Object.keys(makers) as (keyof T & string)[])
        Object.defineProperty(Facade.prototype, name, {
          enumerable: true,
          configurable: true,
          get(this: Facade) {
            const value = makers[name](this.#parts)
            Object.defineProperty(this, name, { value, enumerable: true, configurable: true, writable: true })
            return value
          },
        })
    }
  }
  return (parts) => new Facade(parts) as T
}
