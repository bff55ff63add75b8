import fc from 'fast-check'
import type { Procedure } from '../../../kernel/support/trial.ts'
import { type Control, type ScopedOps, scoped } from './ops.ts'

/** A procedure as a tree; each leaf issues one operation. */
export type Node =
  | { readonly do: 'operate'; readonly catches: boolean }
  | { readonly do: 'fail' }
  | { readonly do: 'sequence' | 'all' | 'any' | 'settled'; readonly parts: readonly Node[] }
  /** An operation is passed itself, or inside a function. */
  | { readonly do: 'race'; readonly parts: readonly Node[]; readonly isPlain: boolean }
  | {
      readonly do: 'map'
      readonly part: Node
      readonly count: number
      readonly concurrency: number
      readonly collects: boolean
    }
  | { readonly do: 'shield'; readonly part: Node }
  | { readonly do: 'finally'; readonly part: Node; readonly last: Node }
  /** Not awaited. */
  | { readonly do: 'abandon'; readonly part: Node; readonly beside: Node }
  /** Both wait for one operation, and resume in one turn. */
  | { readonly do: 'share'; readonly first: Node; readonly second: Node }

export function nodes(): fc.Arbitrary<Node> {
  return fc.letrec<{ node: Node }>((tie) => {
    const node = tie('node')
    const parts = fc.array(node, { minLength: 1, maxLength: 3, size: 'max' })
    return {
      node: fc.oneof(
        { maxDepth: 4, depthSize: 'max', withCrossShrink: true },
        fc.record({ do: fc.constant('operate' as const), catches: fc.boolean() }),
        fc.record({
          do: fc.constantFrom('sequence' as const, 'all' as const, 'any' as const, 'settled' as const),
          parts,
        }),
        fc.record({ do: fc.constant('race' as const), parts, isPlain: fc.boolean() }),
        fc.record({
          do: fc.constant('map' as const),
          part: node,
          count: fc.integer({ min: 1, max: 3 }),
          concurrency: fc.integer({ min: 1, max: 3 }),
          collects: fc.boolean(),
        }),
        fc.record({ do: fc.constant('shield' as const), part: node }),
        fc.record({ do: fc.constant('finally' as const), part: node, last: node }),
        fc.record({ do: fc.constant('abandon' as const), part: node, beside: node }),
        fc.record({ do: fc.constant('share' as const), first: node, second: node }),
        fc.record({ do: fc.constant('fail' as const) }),
      ),
    }
  }).node
}

const none = (): number => 0

/** The procedure that does what the tree says. `hopsAfter`: awaits of nothing behind each settlement. */
export function programOf(root: Node, hopsAfter: () => number = none, control?: Control): Procedure {
  return scoped((ctx) => run(ctx, root, '0', hopsAfter), control)
}

async function run(ctx: ScopedOps, node: Node, path: string, hops: () => number): Promise<unknown> {
  const hop = async (): Promise<void> => {
    for (let i = hops(); i > 0; i--) await null
  }
  const go = (part: Node, name: string, own = ctx): Promise<unknown> =>
    run(own, part, `${path}.${name}`, hops)
  const each = (parts: readonly Node[]) => parts.map((part, i) => go(part, String(i)))
  switch (node.do) {
    case 'operate':
      try {
        const value = await ctx.step(path)
        await hop()
        ctx.note(`${path} got ${value}`)
        return value
      } catch (error) {
        await hop()
        ctx.note(`${path} threw ${describe(error)}`)
        if (node.catches) return 'caught'
        throw error
      }
    case 'fail':
      await ctx.step(path)
      await hop()
      throw new Error(`thrown at ${path}`)
    case 'sequence': {
      const results: unknown[] = []
      for (const [i, part] of node.parts.entries()) results.push(await go(part, String(i)))
      return results
    }
    case 'all':
      return Promise.all(each(node.parts))
    case 'any':
      return Promise.any(each(node.parts))
    case 'settled':
      return (await Promise.allSettled(each(node.parts))).map(({ status }) => status)
    case 'race': {
      const branches = node.parts.map((part, i) => {
        const isOperation = node.isPlain && part.do === 'operate'
        return [`${i}`, isOperation ? ctx.step(`${path}.${i}`) : (own: ScopedOps) => go(part, String(i), own)]
      })
      const won = await ctx.race(Object.fromEntries(branches))
      ctx.note(`${path} won ${won.winner}`)
      return won
    }
    case 'map': {
      const items = Array.from({ length: node.count }, (_, i) => i)
      const options = { concurrency: node.concurrency, onError: node.collects ? 'collect' : 'stop' }
      const results = await ctx.map(items, (_, own, index) => go(node.part, `m${index}`, own), options)
      ctx.note(`${path} mapped ${results.length}`)
      return results.length
    }
    case 'shield':
      return ctx.shield((own) => go(node.part, 's', own))
    case 'finally':
      try {
        return await go(node.part, 'f')
      } finally {
        await ctx.shield((own) => go(node.last, 'l', own))
      }
    case 'abandon':
      void go(node.part, 'a').catch(() => {})
      return go(node.beside, 'b')
    case 'share': {
      const shared = ctx.step(`${path}.sh`)
      const after = (part: Node, name: string) => shared.then(hop).then(() => go(part, name))
      return Promise.all([after(node.first, 'x'), after(node.second, 'y')])
    }
  }
}

function describe(error: unknown): string {
  if (error instanceof AggregateError) return `all of ${error.errors.map(describe).join()}`
  return error instanceof Error ? error.message : String(error)
}
