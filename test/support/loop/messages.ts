/** The lease of both workers: many times what a request may hold the event loop, also on a busy machine. */
export const leaseOf = '20s'

/** What the besieged server is told to do. */
export type ToServer =
  | { readonly do: 'forget' }
  | { readonly do: 'tell' }
  | { readonly do: 'validate'; readonly value: unknown }

export type FromServer =
  | { readonly url: string; readonly slackUrl: string }
  | { readonly heldMs: number; readonly busyMs: number }
  | { readonly validations: number }
