import { Readable } from 'node:stream'
import fc from 'fast-check'
import type { Procedure } from './trial.ts'

/** A procedure as a tree, so that it can be drawn at random, shrunk, printed, and edited. */
export type Node =
  | { readonly do: 'operate'; readonly kind: Asked }
  /** An operation, and then a throw of the procedure's own. */
  | { readonly do: 'fail' }
  | { readonly do: 'sequence'; readonly parts: readonly Node[] }
  | { readonly do: 'all' | 'allSettled' | 'race' | 'any'; readonly parts: readonly Node[] }
  | { readonly do: 'attempt'; readonly body: Node; readonly rescue: Node; readonly last: Node }
  | { readonly do: 'loop'; readonly times: number; readonly body: Node }
  | { readonly do: 'choose'; readonly left: Node; readonly right: Node }
  /** An unawaited branch beside another. */
  | { readonly do: 'abandon'; readonly body: Node; readonly beside: Node }
  | { readonly do: 'hop'; readonly times: number; readonly body: Node }
  | { readonly do: 'tick'; readonly times: number; readonly body: Node }
  | { readonly do: 'stream'; readonly body: Node }
  /** Two branches that wait for one operation, the second after some hops. */
  | { readonly do: 'share'; readonly times: number; readonly first: Node; readonly second: Node }
  /** A race between promises that have all settled before. */
  | { readonly do: 'late'; readonly body: Node }
  /** An uncatchable exception, some ticks later. */
  | { readonly do: 'escape'; readonly times: number; readonly body: Node }

type Asked = 'step' | 'sleep' | 'approve'

export interface Sorts {
  /** Includes nodes in which two branches resume in one turn, or one ends: an extra await may change their outcome. */
  readonly shared: boolean
}

const joins = ['all', 'allSettled', 'race', 'any'] as const

/** Draws the tree of a program, of a dozen operations or so. */
export function nodes({ shared }: Sorts): fc.Arbitrary<Node> {
  const times = fc.integer({ min: 1, max: 4 })
  return fc.letrec<{ program: Node; node: Node; operate: Node; parts: Node[]; joined: Node; other: Node }>(
    (tie) => {
      const body = tie('node')
      const several = (minLength: number) => fc.array(body, { minLength, maxLength: 3, size: 'max' })
      const alone: fc.Arbitrary<Node>[] = [
        fc.record({ do: fc.constant('sequence'), parts: tie('parts') }),
        fc.record({ do: fc.constant('attempt'), body, rescue: body, last: body }),
        fc.record({ do: fc.constant('loop'), times, body }),
        fc.record({ do: fc.constant('choose'), left: body, right: body }),
        fc.record({ do: fc.constant('abandon'), body, beside: body }),
        fc.record({ do: fc.constant('hop'), times, body }),
        fc.record({ do: fc.constant('tick'), times, body }),
        fc.record({ do: fc.constant('stream'), body }),
      ]
      const together: fc.Arbitrary<Node>[] = [
        fc.record({ do: fc.constant('share'), times, first: body, second: body }),
        fc.record({ do: fc.constant('late'), body }),
        fc.record({ do: fc.constant('escape'), times, body }),
      ]
      return {
        node: fc.oneof(
          { maxDepth: 4 },
          { arbitrary: tie('operate'), weight: 2 },
          { arbitrary: tie('joined'), weight: 3 },
          { arbitrary: tie('other'), weight: 3 },
        ),
        operate: fc.oneof(
          {
            weight: 12,
            arbitrary: fc.record({
              do: fc.constant('operate'),
              kind: fc.constantFrom<Asked[]>('step', 'sleep', 'approve'),
            }),
          },
          { weight: 1, arbitrary: fc.record({ do: fc.constant('fail') }) },
        ),
        program: fc.record({ do: fc.constantFrom('sequence', ...joins), parts: several(2) }),
        parts: several(1),
        joined: fc.record({
          do: fc.constantFrom(...joins),
          parts: tie('parts'),
        }),
        other: fc.oneof(...alone, ...(shared ? together : [])),
      } as never
    },
  ).program
}

/** What surrounds an operation in a variant of the program. */
export interface Variant {
  /** All names alike, save for two, so that operations are told apart by their number. */
  readonly sameNames?: boolean
  /** The number of empty awaits between each settlement and its awaiting code. */
  readonly hopsAfter?: (operation: number) => number
  /** Awaits nothing that often before the node of that number. */
  readonly hopsBefore?: (node: number) => number
}

/** The procedure that does what the tree says. */
export function programOf(root: Node, { sameNames, hopsAfter, hopsBefore }: Variant = {}): Procedure {
  return (ops) => {
    let operations = 0

    const operate = async (asked: Asked, name: string): Promise<string> => {
      const hops = hopsAfter?.(operations++) ?? 0
      const promise = ops[asked](sameNames === true ? `name ${name.length % 2}` : name)
      const value = await (hops === 0 ? promise : delayed(promise, hops))
      ops.note(`${name}: ${value}`)
      return value
    }

    /** Paths are distinct, also of two rounds of a loop. */
    const run = async (node: Node, path: string): Promise<unknown> => {
      const hops = hopsBefore?.(numberOf(node)) ?? 0
      if (hops > 0) await hop(hops)
      switch (node.do) {
        case 'operate':
          return operate(node.kind, path)
        case 'fail':
          throw new Error(`thrown after ${await operate('step', path)}`)
        case 'sequence': {
          const results: unknown[] = []
          for (const [i, part] of node.parts.entries()) results.push(await run(part, `${path}${i}`))
          return results
        }
        case 'all':
          return Promise.all(runParts(node.parts, path))
        case 'allSettled':
          return (await Promise.allSettled(runParts(node.parts, path))).map((settled) =>
            settled.status === 'fulfilled' ? settled.value : String(settled.reason),
          )
        case 'race':
          return Promise.race(runParts(node.parts, path).map(async (part, i) => [i, await part]))
        case 'any':
          return Promise.any(runParts(node.parts, path))
        case 'attempt':
          try {
            return await run(node.body, `${path}b`)
          } catch (error) {
            return [String(error), await run(node.rescue, `${path}r`)]
          } finally {
            await run(node.last, `${path}l`)
          }
        case 'loop': {
          let result: unknown
          for (let i = 0; i < node.times; i++) result = [result, await run(node.body, `${path}(${i})`)]
          return result
        }
        case 'choose': {
          const value = await operate('step', path)
          return value.endsWith('!') ? run(node.left, `${path}y`) : run(node.right, `${path}n`)
        }
        case 'abandon':
          void run(node.body, `${path}a`)
          return run(node.beside, `${path}b`)
        case 'hop':
          await hop(node.times)
          return run(node.body, `${path}h`)
        case 'tick':
          for (let i = 0; i < node.times; i++) await tick()
          return [await run(node.body, `${path}t`), await tick()]
        case 'stream': {
          const chunks: unknown[] = []
          for await (const chunk of Readable.from(produce(node.body, path))) chunks.push(chunk)
          return chunks
        }
        case 'share': {
          const shared = operate('step', path)
          const first = shared.then(() => run(node.first, `${path}f`))
          const second = shared.then(() => hop(node.times)).then(() => run(node.second, `${path}s`))
          return Promise.all([first, second])
        }
        case 'late': {
          const settled = [operate('step', `${path}0`), operate('step', `${path}1`)]
          await Promise.allSettled(settled)
          return [await Promise.race(settled.reverse()), await run(node.body, `${path}e`)]
        }
        case 'escape':
          escape(`escaped at ${path}`, node.times)
          return run(node.body, `${path}x`)
      }
    }
    const runParts = (parts: readonly Node[], path: string) =>
      parts.map((part, i) => run(part, `${path}${i}`))

    async function* produce(body: Node, path: string) {
      yield await run(body, `${path}p`)
      yield 'end'
    }

    return run(root, '/')
  }
}

const numbers = new WeakMap<Node, number>()

/** The nodes in the order of the text, numbered. */
export function numberNodes(root: Node): number {
  let count = 0
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    if ('do' in value) numbers.set(value as Node, count++)
    for (const child of Object.values(value)) visit(child)
  }
  visit(root)
  return count
}

function numberOf(node: Node): number {
  return numbers.get(node) ?? -1
}

function escape(message: string, ticks: number): void {
  process.nextTick(() => {
    if (ticks === 0) throw new Error(message)
    escape(message, ticks - 1)
  })
}

async function hop(times: number): Promise<void> {
  for (let i = 0; i < times; i++) await null
}

async function delayed<Value>(promise: Promise<Value>, hops: number): Promise<Value> {
  try {
    return await promise
  } finally {
    await hop(hops)
  }
}

function tick(): Promise<string> {
  return new Promise((resolve) => process.nextTick(resolve, 'ticked'))
}
