import { AsyncLocalStorage } from 'node:async_hooks'
import { describe, expect, test } from 'vitest'
import { Batch } from '../../src/client/batch.ts'
import { nextRound } from '../../src/host/rounds.ts'

interface Write {
  readonly items: readonly number[]
  readonly context: number
  /** The round of the event loop it was made in. */
  readonly round: number
}

/** A batch of numbers, each its own outcome; `bytesOf` as many bytes as it has. */
function makeBatch(bytesOf: (item: number) => number = () => 1) {
  const writes: Write[] = []
  let contexts = 0
  let round = 0
  const count = (): void => {
    round++
    if (round < 200) setImmediate(count)
  }
  count()
  const batch = new Batch<number, number, number>({
    begin: () => contexts++,
    write: async (items, context) => {
      writes.push({ items, context, round })
      return items
    },
    sizeOf: bytesOf,
  })
  return { batch, writes }
}

const numbers = (length: number) => Array.from({ length }, (_, i) => i)

describe('a batch', () => {
  test('keeps at most two writes in flight, and combines later items into the next one', async () => {
    const writes: { readonly items: readonly number[]; readonly finish: () => void }[] = []
    const batch = new Batch<number, number, null>({
      begin: () => null,
      write: (items) => new Promise((resolve) => writes.push({ items, finish: () => resolve(items) })),
      sizeOf: () => 1,
    })
    const added: Promise<number>[] = []
    for (const item of numbers(6)) {
      added.push(batch.add(item))
      await nextRound()
      await nextRound()
    }
    expect(writes.map(({ items }) => items)).toEqual([[0], [1]])
    writes[0]?.finish()
    await added[0]
    await nextRound()
    await nextRound()
    expect(writes.map(({ items }) => items)).toEqual([[0], [1], [2, 3, 4, 5]])
    for (const { finish } of writes) finish()
    expect(await Promise.all(added)).toEqual(numbers(6))
  })

  test('combines all items of one round of the event loop into one write', async () => {
    const { batch, writes } = makeBatch()
    expect(await Promise.all(numbers(5).map((i) => batch.add(i)))).toEqual([0, 1, 2, 3, 4])
    expect(writes.map(({ items }) => items)).toEqual([[0, 1, 2, 3, 4]])
  })

  test('writes items beyond the limit of a round in the next rounds, in order', async () => {
    const max: number[] = []
    for (const count of [1_000, 10_000]) {
      const { batch, writes } = makeBatch()
      expect(await Promise.all(numbers(count).map((i) => batch.add(i)))).toEqual(numbers(count))
      expect(writes.flatMap(({ items }) => items)).toEqual(numbers(count))
      expect(new Set(writes.map(({ round }) => round)).size).toBe(writes.length)
      max.push(Math.max(...writes.map(({ items }) => items.length)))
    }
    expect(max).toEqual([250, 250])
  })

  test('calls begin once per round, however many writes it takes', async () => {
    const { batch, writes } = makeBatch()
    const early = numbers(600).map((i) => batch.add(i))
    await nextRound()
    const late = batch.add(600)
    await Promise.all([...early, late])
    expect(writes.map(({ items, context }) => [items.length, context])).toEqual([
      [250, 0],
      [250, 0],
      [100, 0],
      [1, 1],
    ])
  })

  test('limits a write to a few mebibytes, or one larger item', async () => {
    const megabytes = [3, 4, 2, 9, 9, 1]
    const { batch, writes } = makeBatch((i) => (megabytes[i] ?? 0) * 2 ** 20)
    await Promise.all(megabytes.map((_, i) => batch.add(i)))
    expect(writes.map(({ items }) => items)).toEqual([[0, 1], [2], [3], [4], [5]])
  })

  test('reports a failed write to its own items only', async () => {
    let fails = false
    const batch = new Batch<number, number, null>({
      begin: () => null,
      write: async (items) => {
        fails = !fails
        if (fails) throw new Error('the store is away')
        return items
      },
      sizeOf: () => 0,
    })
    const all = await Promise.allSettled(numbers(300).map((i) => batch.add(i)))
    expect(all.filter(({ status }) => status === 'rejected')).toHaveLength(250)
    expect(all.slice(250).every(({ status }) => status === 'fulfilled')).toBe(true)
  })

  test('writes in the AsyncLocalStorage of its first caller', async () => {
    const storage = new AsyncLocalStorage<string>()
    const seen: unknown[] = []
    const batch = new Batch<number, number, null>({
      begin: () => null,
      write: async (items) => {
        seen.push(storage.getStore())
        return items
      },
      sizeOf: () => 1,
    })
    await Promise.all(['one', 'two'].map((caller, i) => storage.run(caller, () => batch.add(i))))
    expect(seen).toEqual(['one'])
  })
})
