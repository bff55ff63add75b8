import { consoleLogger } from '@pawl/core/internal'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

let written: string[]

beforeEach(() => {
  written = []
  for (const method of ['log', 'warn', 'error'] as const)
    vi.spyOn(console, method).mockImplementation((...args: unknown[]) => {
      // More than one argument would make the first a format.
      expect(args).toHaveLength(1)
      written.push(String(args[0]))
    })
})
afterEach(() => void vi.restoreAllMocks())

test.each([
  ['plain text', 'Grüße, 你好, 👩‍👧 100 %d', 'Grüße, 你好, 👩‍👧 100 %d'],
  ['a tab', 'a\tb', 'a\tb'],
  ['ANSI sequences', '\u001B[2J\u001B[1;31mred\u001B[0m', '\\x1B[2J\\x1B[1;31mred\\x1B[0m'],
  ['a link of a terminal', '\u001B]8;;http://x\u0007x', '\\x1B]8;;http://x\\x07x'],
  ['a return that overwrites the line', 'paid\rdenied', 'paid\\x0Ddenied'],
  ['backspaces, deletes and nulls', 'a\b\u007F\0', 'a\\x08\\x7F\\x00'],
  ['C1 controls', '\u0085\u009B31m\u009D', '\\x85\\x9B31m\\x9D'],
  ['bidi controls', 'a\u202Eb\u2066c\u2069\u200F\u061C', 'a\\u202Eb\\u2066c\\u2069\\u200F\\u061C'],
  ['separators of lines', 'a\u2028b\u2029c', 'a\\u2028b\\u2029c'],
  ['lines, which it indents', 'one\ntwo\r\n\nfour', 'one\n  two\n  \n  four'],
  ['a forged line, which it indents', 'done\n[pawl] run "x" failed', 'done\n  [pawl] run "x" failed'],
])('keeps or escapes in a message: %s', (_, message, expected) => {
  consoleLogger.warn(message)
  expect(written).toEqual([`[pawl] ${expected}`])
})

test('escapes fields, including stacks of errors', () => {
  const error = new Error('no\u001B[2J\u202E')
  error.stack = `Error: no\u001B[2J\u202E\n    at x`
  consoleLogger.error('failed', { error, '\u001Bkey': '\u001B[31m', name: '\u202E' })
  expect(written.join()).toContain('\\x1B[2J\\u202E')
  expect(written.join()).toMatch(/\n +at x/)
  expect(written.join()).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_C}]/u)
})
