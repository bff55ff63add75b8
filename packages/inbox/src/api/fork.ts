import type { Json } from '@pawl/server/internal'

/** Where a fork leaves its original, and what it has different. */
export type Fork =
  | {
      readonly position: number
      /** Results to be replaced, by position. */
      readonly edit?: { readonly [position: string]: Json }
    }
  | { readonly checkpoint: string }
