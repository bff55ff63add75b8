import { expect, test } from 'vitest'
import { escapeHiddenInJson, markHidden, toOneLine } from '../../src/base/hidden.ts'

test('hidden characters are shown by their codes, and line breaks and tabs stay', () => {
  expect(markHidden('a\u202eb\u200bc\u2028d\u{e0041}e\r\nf\tg')).toBe(
    'a[U+202E]b[U+200B]c[U+2028]d[U+E0041]e\nf\tg',
  )
})

test('joiners stay where a script or an emoji needs them', () => {
  expect(markHidden('👩\u200d🚀 क्\u200dष ❤\ufe0f')).toBe('👩\u200d🚀 क्\u200dष ❤\ufe0f')
  expect(markHidden('pay\u200dpal')).toBe('pay[U+200D]pal')
})

test('a text as one line has no line break of any kind', () => {
  expect(toOneLine(' a\n\nb\u2028c\td ')).toBe('a b c d')
})

test('escaped JSON is the same JSON without hidden characters', () => {
  const value = { a: 'x\u202e\u{e0041}y' }
  const json = escapeHiddenInJson(JSON.stringify(value))
  expect(json).toBe('{"a":"x\\u202e\\udb40\\udc41y"}')
  expect(JSON.parse(json)).toEqual(value)
})
