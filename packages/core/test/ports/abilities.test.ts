import { expect, test } from 'vitest'
import { canExecute, chooseVersion } from '../../src/ports/abilities.ts'

const abilities = [
  { name: 'order', versions: [1, 3] },
  { name: 'refund', versions: [] },
  { name: 'order', versions: [2] },
]

test('keeps the version of a run, if any entry of its procedure has it', () => {
  expect(chooseVersion(abilities, 'order', 1)).toBe(1)
  expect(chooseVersion(abilities, 'order', 2)).toBe(2)
  expect(chooseVersion(abilities, 'order', 4)).toBeUndefined()
})

test('gives a run without a version the highest of all entries', () => {
  expect(chooseVersion(abilities, 'order', null)).toBe(3)
})

test('finds no version of a procedure that is unknown or has none', () => {
  expect(canExecute(abilities, 'cart', null)).toBe(false)
  expect(canExecute(abilities, 'refund', null)).toBe(false)
})
