import type { Refused } from '../../base/refused.ts'

/** Runs several branches at once, or protects one, each with its own `ctx` of type `C`. */
export interface ScopeOps<C> {
  /**
   * Calls `each` for every item, with its own `ctx`. Returns the results in the order of the items. 'stop' (default)
   * rejects with the first error and closes the running items; 'collect' returns settled results.
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
   * Returns the first branch to settle and closes the others: asks are withdrawn, timers and receives discarded, steps
   * aborted. A branch is one operation, or a function that receives its own `ctx` for several operations. The race does
   * not wait for the `finally` blocks of the losers, which still run.
   * @throws PawlError 'option-invalid' for no branch, any other promise, or another `ctx`; the error of the winning branch
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
   * Protects the operations of its `ctx` from a cancel and from a lost race. A run that has returned ends once its shields
   * are over.
   * @throws PawlError 'option-invalid' for an operation issued through another `ctx`; the error of the body
   * @example try { await ctx.sleep('1h') } finally { await ctx.shield((ctx) => ctx.step('release', () => lock.release())) }
   */
  shield<B extends (ctx: C) => Promise<unknown>>(body: B & OwnCtx<B, 'shield'>): Promise<Settled<B>>
}

/** The options of `ctx.map`. */
export interface MapOptions<E extends 'stop' | 'collect' = 'stop' | 'collect'> {
  /** Maximum number of items that run at the same time. Default: 10. Range: whole numbers from 1 to 1,000. */
  readonly concurrency?: number
  /** What an error of an item does: 'stop' rejects and closes the others, 'collect' is returned with the results. Default: 'stop'. */
  readonly onError?: E
}

/** The branch that settled first, by name, with its result. */
export type Winner<B> = {
  readonly [K in keyof B]: { readonly winner: K; readonly value: Settled<B[K]> }
}[keyof B]

// biome-ignore lint/suspicious/noExplicitAny: a function of any parameters
type Settled<B> = B extends (...args: any[]) => infer R ? Awaited<R> : Awaited<B>

// A body without a parameter could only use the outer ctx, whose operations do not belong to it.
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
