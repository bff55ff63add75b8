import { expect, test } from 'vitest'
import { safe } from '../src/output/out.ts'
import { padTo, widthOf } from '../src/output/width.ts'

test.each([
  ['plain', 5],
  ['Ödön', 4],
  ['O\u0308do\u0308n', 4],
  ['東京', 4],
  ['한국', 4],
  ['👩\u200d👩\u200d👧', 2],
  ['❤️ x', 4],
  ['🇩🇪', 2],
  ['', 0],
])('%s takes its columns of a terminal', (text, columns) => {
  expect(widthOf(text)).toBe(columns)
  expect(padTo(text, 6)).toBe(text + ' '.repeat(6 - columns))
})

test('joiners of emoji and of scripts are printed; what moves the cursor or turns the text is not', () => {
  expect(safe('👩\u200d👧 می\u200cخواهم')).toBe('👩\u200d👧 می\u200cخواهم')
  expect(safe('a\u202eb\u001b[2Jc\u200bd\nE')).toBe('a\\u202eb\\u001b[2Jc\\u200bd E')
})
