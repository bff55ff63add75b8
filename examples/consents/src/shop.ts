import { FinalError } from '@pawl/core'

/** A shop with 500 products, which notes what is done to it. An update with a known key does nothing. */
export class Shop {
  readonly did: string[] = []
  catalogueVersion = 7
  readonly #seen = new Set<string>()
  readonly #perPercent: number

  /** `perPercent`: what one percent costs or earns, in USD. */
  constructor(perPercent: number) {
    this.#perPercent = perPercent
  }

  propose(percent: number): {
    readonly products: number
    readonly impact: number
    readonly perPercent: number
  } {
    return { products: 500, impact: percent * this.#perPercent, perPercent: this.#perPercent }
  }

  /** Only the target can compare the version at the instant of the change. */
  update(percent: number, ifVersion: number, key: string): number {
    if (this.#seen.has(key)) return this.catalogueVersion
    if (ifVersion !== this.catalogueVersion) throw new FinalError('the catalogue has changed')
    this.#seen.add(key)
    this.did.push(`${percent} %`)
    return ++this.catalogueVersion
  }

  clearCache(): void {
    this.did.push('clear cache')
  }
}
