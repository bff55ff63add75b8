import { expect, test } from 'vitest'
import { formatNumber, plainNumber } from '../src/text/number.ts'
import { summaryOf } from '../src/text/plain.ts'

test('a number has no trace of its binary form, and all the digits that people gave it', () => {
  expect(formatNumber(1.1 + 2.2)).toBe('3.3')
  expect(plainNumber(1.1 + 2.2)).toBe('3.3')
  expect(formatNumber(1234567.89)).toBe('1234567.89')
  expect(formatNumber(9_007_199_254_740_991)).toBe('9007199254740991')
  expect(formatNumber(2026)).toBe('2026')
  expect(formatNumber(0.000_000_1)).toBe('0.0000001')
})

test('a summary has it as well, alone and among others', () => {
  expect(summaryOf(0.1 + 0.2)).toBe('0.3')
  expect(summaryOf({ rate: 0.1 + 0.2 })).toBe('rate: 0.3')
})
