import type { Refused } from '../../base/refused.ts'

/** What runs several things at once, or apart from the rest, with a `ctx` of its own for each. `C`: that `ctx`. */
export interface ScopeOps<C> {
  /**
   * Calls `each` for every item, each with a `ctx` of its own, and returns the results in the order of the items.
   * 'stop' (default) rejects with the first error and closes the items at work; 'collect' returns settled results.
   * @throws PawlError 'option-invalid' for an operation issued through another `ctx`; 'cancelled' if the run is cancelled
   * @example await ctx.map(files, (file, ctx) => ctx.step(`delete ${file}`, () => rm(file)), { concurrency: 5 })
   */
  map<
    A,
    B extends (item: A, ctx: C, index: number) => Promise<unknown>,
    E extends 'stop' | 'collect' = 'stop',
  >(
    items: readonly A[],
    each: B & ItemCtx<B>,
    options?: MapOptions<E>,
  ): Promise<E extends 'collect' ? PromiseSettledResult<Settled<B>>[] : Settled<B>[]>
  /**
   * Returns the first branch to settle and closes the others: asks are withdrawn, timers and receives dropped, steps
   * aborted. A branch is one operation, or a function that gets a `ctx` of its own for several. `finally` blocks of the
   * losers run; the race does not wait for them.
   * @throws the error of the winning branch; PawlError 'option-invalid' for no branch, any other promise, or another `ctx`
   * @example
   * const first = await ctx.race({ paid: ctx.receive('paid'), late: async (ctx) => { await ctx.sleep('3d'); return remind(ctx) } })
   * if (first.winner === 'late') …
   */
  race<
    B extends {
      readonly [name: string]: Promise<unknown> | ((ctx: C) => Promise<unknown>)
    },
  >(branches: B & BranchCtx<B>): Promise<Winner<B>>
  /**
   * Protects what its `ctx` does from a cancel and from a lost race. A run that has returned ends once its shields have.
   * @throws the error of the body; PawlError 'option-invalid' for an operation issued through another `ctx`
   * @example try { await ctx.sleep('1h') } finally { await ctx.shield((ctx) => ctx.step('release', () => lock.release())) }
   */
  shield<B extends (ctx: C) => Promise<unknown>>(body: B & OwnCtx<B, 'shield'>): Promise<Settled<B>>
}

/** The options of `ctx.map`. */
export interface MapOptions<E extends 'stop' | 'collect' = 'stop' | 'collect'> {
  /** Maximum items at work. Default: 10. Range: 1 to 1,000. */
  readonly concurrency?: number
  /** Default: 'stop'. */
  readonly onError?: E
}

/** The branch that settled first, by name, with its result. */
export type Winner<B> = {
  readonly [K in keyof B]: { readonly winner: K; readonly value: Settled<B[K]> }
}[keyof B]

// biome-ignore lint/suspicious/noExplicitAny: a function of any parameters
type Settled<B> = B extends (...args: any[]) => infer R ? Awaited<R> : Awaited<B>

// A body without a parameter could only use the ctx around it, whose operations are not its own.
type OwnCtx<B, What extends string> = B extends () => unknown
  ? Refused<`take the ctx of this ${What}: (ctx) => …`>
  : unknown
// biome-ignore lint/suspicious/noExplicitAny: an item of any type
type ItemCtx<B> = B extends (item: any) => unknown
  ? Refused<'take the ctx of this item: (item, ctx) => …'>
  : unknown
type BranchCtx<B> = {
  readonly [K in keyof B]: B[K] extends () => unknown
    ? Refused<'take the ctx of this branch: (ctx) => …'>
    : unknown
}
