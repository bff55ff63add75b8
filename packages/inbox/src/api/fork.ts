import type { Json } from '@pawl/server/internal'

/** The position at which a fork leaves its original, and its edits. */
export type Fork =
  | {
      readonly position: number
      /** Results to be replaced, by position. */
      readonly edit?: { readonly [position: string]: Json }
    }
  | { readonly checkpoint: string }
