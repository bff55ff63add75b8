import { expect, test } from 'vitest'
import { systemEntropy } from '../../src/host/entropy.ts'

test('returns the requested number of bytes, never the same twice', () => {
  const drawn = Array.from({ length: 2_000 }, (_, i) => systemEntropy.bytes(12 + (i % 9)))
  expect(drawn.map(({ length }) => length)).toEqual(drawn.map((_, i) => 12 + (i % 9)))
  expect(new Set(drawn.map((bytes) => Buffer.from(bytes).toString('hex'))).size).toBe(drawn.length)
  const zeros = drawn.flatMap((bytes) => [...bytes]).filter((byte) => byte === 0).length
  // One in 256 of 32,000: far more would mean that a part was given out after it was wiped.
  expect(zeros).toBeLessThan(400)
  expect(systemEntropy.bytes(10_000)).toHaveLength(10_000)
})

test('erases bytes that were handed out', () => {
  const first = systemEntropy.bytes(16)
  const copy = [...first]
  for (let i = 0; i < 1_000; i++) systemEntropy.bytes(16).fill(0)
  expect([...first]).toEqual(copy)
})
