import type { Store } from '@pawl/core'

/** Where a test keeps its runs. */
export interface StorePlace {
  readonly store: Store
  remove(): Promise<void>
}
