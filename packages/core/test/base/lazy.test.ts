import { describe, expect, test, vi } from 'vitest'
import { createLazily } from '../../src/base/lazy.ts'

interface Counter {
  readonly start: number
  add(amount: number): number
  reset(): void
}

describe('createLazily', () => {
  const add = vi.fn((parts: { start: number }) => (amount: number) => {
    parts.start += amount
    return parts.start
  })
  const reset = vi.fn((parts: { start: number }) => () => {
    parts.start = 0
  })
  const create = createLazily<Counter, { start: number }>({ start: ({ start }) => start, add, reset })

  test('makes each member once, when it is first read', () => {
    const counter = create({ start: 1 })
    expect(add).not.toHaveBeenCalled()
    expect([counter.add(1), counter.add(2)]).toEqual([2, 4])
    expect(add).toHaveBeenCalledOnce()
    expect(reset).not.toHaveBeenCalled()
    expect(counter.add).toBe(counter.add)
  })

  test('makes members that need no object and belong to their own parts', () => {
    const [one, other] = [create({ start: 1 }), create({ start: 10 })]
    const { add: addToOne } = one
    const { add: addToOther } = other
    expect([addToOne(1), addToOther(1), addToOne(1)]).toEqual([2, 11, 3])
  })

  test('reads a value at its first use', () => {
    const parts = { start: 5 }
    const counter = create(parts)
    expect(counter.start).toBe(5)
    parts.start = 6
    expect(counter.start).toBe(5)
    expect(Object.keys(counter)).toEqual(['start'])
    expect('reset' in counter).toBe(true)
  })
})
